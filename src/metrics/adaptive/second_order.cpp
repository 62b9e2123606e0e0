#include "metrics/adaptive/second_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 1024;
constexpr std::size_t kRowsForCorrelations = 1000;
constexpr std::size_t kColumnsForCorrelations = 1500;
constexpr double kLargestDeviation = 4.0;  // standard deviations of a column

double squared_norm(std::span<const double> row) {
  double total = 0.0;
  for (const double v : row) total += v * v;
  return total;
}

// The average over the pool of |x - mean|^2, blocks added in order.
double total_variance(const Pool& pool, std::span<const double> mean, ThreadCount threads) {
  std::vector<double> of_blocks((pool.size() + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for_blocks(pool.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    double total = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = pool.row(i);
      for (std::size_t k = 0; k < row.size(); ++k) {
        const double deviation = row[k] - mean[k];
        total += deviation * deviation;
      }
    }
    of_blocks[begin / kRowsPerTask] = total;
  });
  return sum(of_blocks) / static_cast<double>(pool.size());
}

// Mean and standard deviation of the columns, and the pairs of columns to multiply.
struct ColumnProducts {
  std::vector<double> mean;
  std::vector<double> deviation;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

// Columns measured from their means in standard deviations, cut.
void standardise(const ColumnProducts& columns, MatrixView<double> rows) {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double deviation = columns.deviation[k] > 0.0 ? (row[k] - columns.mean[k]) / columns.deviation[k] : 0.0;
      row[k] = std::clamp(deviation, -kLargestDeviation, kLargestDeviation);
    }
  }
}

std::vector<std::pair<std::size_t, std::size_t>> all_pairs(std::span<const std::size_t> columns) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  pairs.reserve(columns.size() * (columns.size() - 1) / 2);
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) pairs.emplace_back(columns[a], columns[b]);
  }
  return pairs;
}

// The pairs with the largest correlations, in the order of the columns.
void keep_most_correlated(const ColumnProducts& columns, const Pool& rows, std::size_t most, Seed seed,
                          std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Matrix<double> some = subsample(rows, kRowsForCorrelations, seed, Purpose::landmarks);
  standardise(columns, some);
  Matrix<double> correlations(rows.dim(), rows.dim());
  simd::multiply(some, simd::Op::transpose, some, simd::Op::none, correlations);
  const auto size = [&](const auto& pair) { return std::abs(correlations(pair.first, pair.second)); };
  const auto larger = [&](const auto& p, const auto& q) {
    const double of_p = size(p);
    const double of_q = size(q);
    return of_p != of_q ? of_p > of_q : p < q;
  };
  const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(pairs.begin(), end, pairs.end(), larger);
  pairs.erase(end, pairs.end());
  std::ranges::sort(pairs);
}

// All pairs of columns, or those of the largest correlations.
ColumnProducts column_products(const Pool& rows, std::size_t most_pairs, Seed seed) {
  ColumnProducts columns{.mean = pooled_mean(rows), .deviation = {}, .pairs = {}};
  std::vector<CompensatedSum> squares(rows.dim());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double deviation = row[k] - columns.mean[k];
      squares[k].add(deviation * deviation);
    }
  }
  for (const CompensatedSum& total : squares) {
    columns.deviation.push_back(std::sqrt(total.value() / static_cast<double>(rows.size())));
  }
  RandomStream stream(seed, Purpose::linear_directions);
  auto some = sample_without_replacement(rows.dim(), std::min(rows.dim(), kColumnsForCorrelations), stream);
  std::ranges::sort(some);
  columns.pairs = all_pairs(some);
  if (columns.pairs.size() > most_pairs) keep_most_correlated(columns, rows, most_pairs, seed, columns.pairs);
  return columns;
}

}  // namespace

void LinearComponents::project(MatrixView<double> rows, MatrixView<double> components) const {
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] -= mean[k];
  }
  simd::multiply(rows, simd::Op::none, weights.view().column_range(0, components.cols()), simd::Op::none, components);
}

LinearComponents linear_components(const Pool& pool, const PrincipalOptions& options, Seed seed, ThreadCount threads) {
  const PrincipalBasis basis = principal_basis(Kernel(parse_kernel("linear")), pool, options, seed, threads);
  LinearComponents made{.mean = pooled_mean(pool),
                        .weights = Matrix<double>(pool.dim(), basis.variances.size()),
                        .variances = basis.variances};
  simd::multiply(basis.landmarks, simd::Op::transpose, basis.coefficients, simd::Op::none, made.weights);
  const double total = total_variance(pool, made.mean, threads);
  made.mean_variance = total / static_cast<double>(pool.dim());
  const std::size_t num_others = pool.dim() - std::min(pool.dim(), made.variances.size());
  if (num_others > 0) {
    made.other_variance = std::max(0.0, total - sum(made.variances)) / static_cast<double>(num_others);
  }
  return made;
}

BundleDirections leverage_scores(std::shared_ptr<const LinearComponents> components, const Pool& rows,
                                 std::vector<double> ridges) {
  const std::size_t count = ridges.size();
  const auto project = [components, rows, ridges = std::move(ridges)](std::size_t first, std::size_t num,
                                                                      ThreadCount threads) {
    const LinearComponents& own = *components;
    const std::size_t rank = own.variances.size();
    Matrix<double> scores(num, rows.size());
    parallel_for_blocks(rows.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
      Matrix<double> block(end - begin, rows.dim());
      copy_rows(rows, begin, block);
      Matrix<double> values(block.rows(), rank);
      own.project(block, values);
      for (std::size_t i = 0; i < block.rows(); ++i) {
        const double norm = squared_norm(block.row(i));
        const double rest = std::max(0.0, norm - squared_norm(values.row(i)));
        for (std::size_t k = 0; k < num; ++k) {
          const double ridge = ridges[first + k] * own.mean_variance;
          double leverage = norm;
          if (std::isfinite(ridge)) {
            leverage = own.other_variance + ridge > 0.0 ? rest / (own.other_variance + ridge) : 0.0;
            for (std::size_t j = 0; j < rank; ++j) {
              leverage += values(i, j) * values(i, j) / (own.variances[j] + ridge);
            }
          }
          scores(k, begin + i) = std::cbrt(leverage);
        }
      }
    });
    return scores;
  };
  return {count == 1 ? "distance to the centre" : "distances to the centre", count, project};
}

MeanFeatures second_moments(std::shared_ptr<const LinearComponents> components, const Pool& rows,
                            std::size_t most_components, std::size_t most_pairs, Seed seed) {
  const auto columns = std::make_shared<const ColumnProducts>(column_products(rows, most_pairs, seed));
  const std::size_t rank = std::min(most_components, components->variances.size());
  const std::size_t num_pairs = columns->pairs.size();
  const auto evaluate = [components, columns, rank, num_pairs](MatrixView<const double> points,
                                                               MatrixView<double> values, MatrixView<double> sizes) {
    Matrix<double> standard(points);
    standardise(*columns, standard);
    Matrix<double> centred(points);
    Matrix<double> own(points.rows(), rank);
    components->project(centred, own);
    for (std::size_t i = 0; i < points.rows(); ++i) {
      std::size_t f = 0;
      for (const auto& [a, b] : columns->pairs) values(i, f++) = standard(i, a) * standard(i, b);
      for (std::size_t j = 0; j < rank; ++j) {
        for (std::size_t k = j; k < rank; ++k) values(i, f++) = own(i, j) * own(i, k);
      }
    }
    if (sizes.rows() == 0) return;
    for (std::size_t i = 0; i < points.rows(); ++i) {
      const auto size = [&](std::size_t k) {
        const double terms = std::abs(points(i, k)) + std::abs(columns->mean[k]);
        return columns->deviation[k] > 0.0 ? terms / columns->deviation[k] : 0.0;
      };
      for (std::size_t f = 0; f < num_pairs; ++f) {
        sizes(i, f) = size(columns->pairs[f].first) * size(columns->pairs[f].second);
      }
      // A component rounds by eps times the length of the row.
      std::ranges::fill(sizes.row(i).subspan(num_pairs), squared_norm(points.row(i)) + squared_norm(components->mean));
    }
  };
  return {"products of columns and components",
          num_pairs + rank * (rank + 1) / 2,
          evaluate,
          {MeanSummary::largest, MeanSummary::average}};
}

}  // namespace kqd
