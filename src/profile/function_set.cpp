#include "profile/function_set.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kernel/kernel_block.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr double kLargestDeviation = 4.0;  // standard deviations of a column

double squared_norm(std::span<const double> row) {
  double total = 0.0;
  for (const double v : row) total += v * v;
  return total;
}

// Functions of rows, and if `sizes` has rows the sums of the sizes of the terms that they are added from.
using Evaluate =
    std::function<void(MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes)>;

Evaluate evaluate_of(const ColumnValues& set) {
  return [columns = set.columns](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t k = 0; k < values.cols(); ++k) values(i, k) = rows(i, columns[k]);
      for (std::size_t k = 0; k < values.cols() && sizes.rows() > 0; ++k) sizes(i, k) = std::abs(values(i, k));
    }
  };
}

Evaluate evaluate_of(const KernelFunctions& set) {
  const auto block = std::make_shared<const KernelBlock>(Kernel(set.kernel), set.points);
  const auto coefficients = std::make_shared<const Matrix<double>>(set.coefficients.view());
  return [block, coefficients](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    Matrix<double> kernel_values(rows.rows(), block->num_points());
    block->evaluate(rows, kernel_values);
    const auto used = coefficients->view().column_range(0, values.cols());
    simd::multiply(kernel_values, simd::Op::none, used, simd::Op::none, values);
    if (sizes.rows() == 0) return;
    Matrix<double> absolute(used);
    for (double& value : kernel_values.values()) value = std::abs(value);
    for (double& value : absolute.values()) value = std::abs(value);
    simd::multiply(kernel_values, simd::Op::none, absolute, simd::Op::none, sizes);
  };
}

Evaluate evaluate_of(const LeverageScores& set) {
  const auto shared = std::make_shared<const LeverageScores>(set);
  return [shared](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    const LinearComponents& own = shared->components;
    const std::size_t rank = own.variances.size();
    Matrix<double> centred(rows);
    Matrix<double> components(rows.rows(), rank);
    own.project(centred, components);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const double norm = squared_norm(centred.row(i));
      const double rest = std::max(0.0, norm - squared_norm(components.row(i)));
      for (std::size_t k = 0; k < values.cols(); ++k) {
        const double ridge = shared->ridges[k] * own.mean_variance;
        double leverage = norm;
        if (std::isfinite(ridge)) {
          leverage = own.other_variance + ridge > 0.0 ? rest / (own.other_variance + ridge) : 0.0;
          for (std::size_t j = 0; j < rank; ++j) {
            leverage += components(i, j) * components(i, j) / (own.variances[j] + ridge);
          }
        }
        values(i, k) = std::cbrt(leverage);
      }
      if (sizes.rows() > 0) std::ranges::copy(values.row(i), sizes.row(i).begin());
    }
  };
}

// The rank of a value in [-1, 1]: the middle of its equals, between two knots by interpolation.
double rank_of(double value, std::span<const double> knots) {
  const auto [first, last] = std::ranges::equal_range(knots, value);
  const auto below = static_cast<double>(first - knots.begin());
  const auto num_cells = static_cast<double>(knots.size() - 1);
  double rank = 0.0;
  if (first != last) {
    rank = (below + static_cast<double>(last - knots.begin()) - 1.0) / 2.0;
  } else if (first == knots.begin() || first == knots.end()) {  // beyond the rows that the knots come from
    rank = first == knots.begin() ? 0.0 : num_cells;
  } else {
    const double low = *(first - 1);
    rank = below - 1.0 + (value - low) / (*first - low);
  }
  return 2.0 * rank / num_cells - 1.0;
}

Evaluate evaluate_of(const RankPolynomials& set) {
  const auto shared = std::make_shared<const RankPolynomials>(set);
  return [shared](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    const auto& [columns, knots, degree] = *shared;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto row = values.row(i);
      for (std::size_t c = 0; c * degree < row.size(); ++c) {
        const double u = rank_of(rows(i, columns[c]), knots.row(c));
        double before = 1.0;
        double current = u;
        for (std::size_t k = 1; k <= degree; ++k) {
          row[c * degree + k - 1] = current;
          const auto order = static_cast<double>(k);
          before = std::exchange(current, ((2.0 * order + 1.0) * u * current - order * before) / (order + 1.0));
        }
      }
      if (sizes.rows() > 0) std::ranges::fill(sizes.row(i), 1.0);  // |P_k| <= 1
    }
  };
}

Evaluate evaluate_of(const PairProducts& set) {
  const auto shared = std::make_shared<const PairProducts>(set);
  return [shared](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    const auto& [mean, deviation, pairs, components, rank] = *shared;
    Matrix<double> standard(rows);
    standardise(mean, deviation, standard);
    Matrix<double> centred(rows);
    Matrix<double> own(rows.rows(), rank);
    components.project(centred, own);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      std::size_t f = 0;
      for (const auto& [a, b] : pairs) values(i, f++) = standard(i, a) * standard(i, b);
      for (std::size_t j = 0; j < rank; ++j) {
        for (std::size_t k = j; k < rank; ++k) values(i, f++) = own(i, j) * own(i, k);
      }
    }
    for (std::size_t i = 0; i < sizes.rows(); ++i) {
      const auto size = [&](std::size_t k) {
        const double terms = std::abs(rows(i, k)) + std::abs(mean[k]);
        return deviation[k] > 0.0 ? terms / deviation[k] : 0.0;
      };
      for (std::size_t f = 0; f < pairs.size(); ++f) sizes(i, f) = size(pairs[f].first) * size(pairs[f].second);
      // A component rounds by eps times the length of the row.
      std::ranges::fill(sizes.row(i).subspan(pairs.size()), squared_norm(rows.row(i)) + squared_norm(components.mean));
    }
  };
}

std::size_t count_of(const ColumnValues& set) {
  return set.columns.size();
}
std::size_t count_of(const KernelFunctions& set) {
  return set.coefficients.cols();
}
std::size_t count_of(const LeverageScores& set) {
  return set.ridges.size();
}
std::size_t count_of(const RankPolynomials& set) {
  return set.columns.size() * set.degree;
}
std::size_t count_of(const PairProducts& set) {
  return set.pairs.size() + set.num_components * (set.num_components + 1) / 2;
}

}  // namespace

void LinearComponents::project(MatrixView<double> rows, MatrixView<double> components) const {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] -= mean[k];
  }
  simd::multiply(rows, simd::Op::none, weights.view().column_range(0, components.cols()), simd::Op::none, components);
}

void standardise(std::span<const double> mean, std::span<const double> deviation, MatrixView<double> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double standard = deviation[k] > 0.0 ? (row[k] - mean[k]) / deviation[k] : 0.0;
      row[k] = std::clamp(standard, -kLargestDeviation, kLargestDeviation);
    }
  }
}

std::size_t FunctionSet::count() const {
  return std::visit([](const auto& set) { return count_of(set); }, functions);
}

RowFunctions make_functions(const FunctionSet& set) {
  Evaluate evaluate = std::visit([](const auto& own) { return evaluate_of(own); }, set.functions);
  if (!set.scales.empty()) {
    evaluate = [scales = set.scales, of_scaled = std::move(evaluate)](
                   MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
      Matrix<double> scaled(rows.rows(), scales.size());
      scale_rows(scales, rows, scaled);
      of_scaled(scaled, values, sizes);
    };
  }
  const auto plain = [evaluate](MatrixView<const double> rows, MatrixView<double> values) {
    evaluate(rows, values, {});
  };
  return std::make_shared<const FeatureMap>(FeatureMap{set.count(), plain, evaluate});
}

}  // namespace kqd
