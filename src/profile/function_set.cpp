#include "profile/function_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "kernel/kernel_block.hpp"
#include "profile/line_grid.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr double kLargestDeviation = 4.0;  // standard deviations of a column
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// The value of function f in a row in which a value is missing.
double value_of_missing(std::span<const double> centres, std::size_t f) {
  return centres.empty() ? kNotANumber : centres[f];
}

// Pairs of a row in which one of both columns has no value.
void leave_out_missing(const PairProducts& set, std::span<const double> row, std::span<double> values) {
  if (!set.marks.any()) return;
  for (std::size_t f = 0; f < set.pairs.size(); ++f) {
    if (set.marks.missing(row, set.pairs[f].first) || set.marks.missing(row, set.pairs[f].second)) {
      values[f] = value_of_missing(set.centres, f);
    }
  }
}

double squared_norm(std::span<const double> row) {
  double total = 0.0;
  for (const double v : row) total += v * v;
  return total;
}

// Functions of rows, and if `sizes` has rows the sums of the sizes of the terms that they are added from.
using Evaluate =
    std::function<void(MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes)>;

Evaluate evaluate_of(const ColumnValues& set) {
  return [columns = set.columns, marks = set.marks](MatrixView<const double> rows, MatrixView<double> values,
                                                    MatrixView<double> sizes) {
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t k = 0; k < values.cols(); ++k) values(i, k) = rows(i, columns[k]);
      for (std::size_t k = 0; k < values.cols() && sizes.rows() > 0; ++k) sizes(i, k) = std::abs(values(i, k));
      for (std::size_t k = 0; k < values.cols() && marks.any(); ++k) {
        if (marks.missing(rows.row(i), columns[k])) values(i, k) = kNotANumber;
      }
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

// Ranks of values among ascending knots, in [-1, 1]: the middle of equal knots, between two knots by interpolation.
class RankFinder {
 public:
  explicit RankFinder(std::span<const double> knots)
      : knots_(knots.begin(), knots.end()), not_above_(knots), first_equal_(knots.size()) {
    for (std::size_t k = 1; k < knots_.size(); ++k) {
      first_equal_[k] = knots_[k] == knots_[k - 1] ? first_equal_[k - 1] : k;
    }
  }

  [[nodiscard]] double operator()(double value) const {
    const std::size_t end = not_above_(value);
    const auto num_cells = static_cast<double>(knots_.size() - 1);
    double rank = 0.0;
    if (end > 0 && knots_[end - 1] == value) {
      rank = (static_cast<double>(first_equal_[end - 1]) + static_cast<double>(end) - 1.0) / 2.0;
    } else if (end == 0 || end == knots_.size()) {  // beyond the rows that the knots come from
      rank = end == 0 ? 0.0 : num_cells;
    } else {
      const double low = knots_[end - 1];
      rank = static_cast<double>(end) - 1.0 + (value - low) / (knots_[end] - low);
    }
    return 2.0 * rank / num_cells - 1.0;
  }

 private:
  std::vector<double> knots_;
  BinFinder not_above_;
  std::vector<std::size_t> first_equal_;
};

Evaluate evaluate_of(const RankPolynomials& set) {
  std::vector<RankFinder> finders;
  for (std::size_t c = 0; c < set.columns.size(); ++c) finders.emplace_back(set.knots.row(c));
  const auto ranks = std::make_shared<const std::vector<RankFinder>>(std::move(finders));
  return [ranks, columns = set.columns, degree = set.degree, marks = set.marks, centres = set.centres](
             MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    // Several rows at a time, of which the compiler makes vectors.
    constexpr std::size_t kAtATime = 64;
    std::array<double, kAtATime> u{};
    std::array<double, kAtATime> current{};
    std::array<double, kAtATime> before{};
    for (std::size_t first = 0; first < values.rows(); first += kAtATime) {
      const std::size_t count = std::min(kAtATime, values.rows() - first);
      for (std::size_t c = 0; c * degree < values.cols(); ++c) {
        for (std::size_t i = 0; i < count; ++i) u[i] = (*ranks)[c](rows(first + i, columns[c]));
        before.fill(1.0);
        current = u;
        for (std::size_t k = 1; k <= degree; ++k) {
          for (std::size_t i = 0; i < count; ++i) values(first + i, c * degree + k - 1) = current[i];
          const auto order = static_cast<double>(k);
          for (std::size_t i = 0; i < kAtATime; ++i) {
            const double next = ((2.0 * order + 1.0) * u[i] * current[i] - order * before[i]) / (order + 1.0);
            before[i] = current[i];
            current[i] = next;
          }
        }
        for (std::size_t i = first; i < first + count && marks.any(); ++i) {
          if (!marks.missing(rows.row(i), columns[c])) continue;
          for (std::size_t f = c * degree; f < (c + 1) * degree; ++f) values(i, f) = value_of_missing(centres, f);
        }
      }
    }
    for (std::size_t i = 0; i < sizes.rows(); ++i) std::ranges::fill(sizes.row(i), 1.0);  // |P_k| <= 1
  };
}

// The sizes of the terms of each column of `row` as standardise() measures it.
void sizes_of_standardised(const PairProducts& set, std::span<const double> row, std::span<double> sizes) {
  for (std::size_t k = 0; k < row.size(); ++k) {
    const double terms = std::abs(row[k]) + std::abs(set.mean[k]);
    sizes[k] = set.deviation[k] > 0.0 ? terms / set.deviation[k] : 0.0;
  }
}

Evaluate evaluate_of(const PairProducts& set) {
  const auto shared = std::make_shared<const PairProducts>(set);
  return [shared](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    const auto& [mean, deviation, pairs, components, rank, marks, centres] = *shared;
    Matrix<double> standard(rows);
    standardise(mean, deviation, standard);
    Matrix<double> centred(rank > 0 ? rows.rows() : 0, rows.cols());
    for (std::size_t i = 0; i < centred.rows(); ++i) std::ranges::copy(rows.row(i), centred.row(i).begin());
    Matrix<double> own(rows.rows(), rank);
    if (rank > 0) components.project(centred, own);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      std::size_t f = 0;
      for (const auto& [a, b] : pairs) values(i, f++) = standard(i, a) * standard(i, b);
      leave_out_missing(*shared, rows.row(i), values.row(i));
      for (std::size_t j = 0; j < rank; ++j) {
        for (std::size_t k = j; k < rank; ++k) values(i, f++) = own(i, j) * own(i, k);
      }
    }
    std::vector<double> of_columns(sizes.rows() > 0 ? rows.cols() : 0);
    for (std::size_t i = 0; i < sizes.rows(); ++i) {
      sizes_of_standardised(*shared, rows.row(i), of_columns);
      for (std::size_t f = 0; f < pairs.size(); ++f) {
        sizes(i, f) = of_columns[pairs[f].first] * of_columns[pairs[f].second];
      }
      if (rank == 0) continue;
      // A component rounds by eps times the length of the row.
      std::ranges::fill(sizes.row(i).subspan(pairs.size()), squared_norm(rows.row(i)) + squared_norm(components.mean));
    }
  };
}

Evaluate evaluate_of(const TripleProducts& set) {
  const auto shared = std::make_shared<const PairProducts>(set.factors);
  return [shared](MatrixView<const double> rows, MatrixView<double> values, MatrixView<double> sizes) {
    const auto& [mean, deviation, pairs, components, rank, marks, centres] = *shared;
    Matrix<double> standard(rows);
    standardise(mean, deviation, standard);
    Matrix<double> centred(rows);
    Matrix<double> component(rows.rows(), 1);
    components.project(centred, component);
    const double scale = std::sqrt(components.variances.front());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const double z = std::clamp(component(i, 0) / scale, -kLargestDeviation, kLargestDeviation);
      std::size_t f = 0;
      for (const auto& [a, b] : pairs) values(i, f++) = standard(i, a) * standard(i, b) * z;
      leave_out_missing(*shared, rows.row(i), values.row(i));
    }
    std::vector<double> of_columns(sizes.rows() > 0 ? rows.cols() : 0);
    for (std::size_t i = 0; i < sizes.rows(); ++i) {
      sizes_of_standardised(*shared, rows.row(i), of_columns);
      const double length = std::sqrt(squared_norm(rows.row(i))) + std::sqrt(squared_norm(components.mean));
      for (std::size_t f = 0; f < pairs.size(); ++f) {
        sizes(i, f) = of_columns[pairs[f].first] * of_columns[pairs[f].second] * length / scale;
      }
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
std::size_t count_of(const TripleProducts& set) {
  return set.factors.pairs.size();
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

std::vector<double> largest_values(const FunctionSet& set) {
  const auto* functions = std::get_if<KernelFunctions>(&set.functions);
  if (functions == nullptr) return {};
  const Kernel kernel(functions->kernel);
  if (!kernel.shift_invariant() || functions->points.rows() == 0) return {};
  // |k(x, z)| <= k(x, x), which is the same for all x.
  double largest = 0.0;
  kernel.diagonal(functions->points.view().row_range(0, 1), {&largest, 1});
  std::vector<double> bounds(functions->coefficients.cols(), 0.0);
  for (std::size_t i = 0; i < functions->coefficients.rows(); ++i) {
    for (std::size_t j = 0; j < bounds.size(); ++j) bounds[j] += std::abs(functions->coefficients(i, j)) * largest;
  }
  return bounds;
}

}  // namespace kqd
