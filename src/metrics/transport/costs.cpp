#include "metrics/transport/costs.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/kernel_maps.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxStoredBytes = std::size_t{512} << 20U;
constexpr std::size_t kTileValues = 32768;  // coordinates of one tile of columns: 256 KB stay in L2
constexpr std::size_t kMinTile = 64;
constexpr std::size_t kMaxTile = 256;

Matrix<double> transposed(MatrixView<const double> rows) {
  Matrix<double> columns(rows.cols(), rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) columns(k, i) = row[k];
  }
  return columns;
}

void gather_rows(MatrixView<const double> from, std::span<const std::size_t> positions, MatrixView<double> rows) {
  for (std::size_t i = 0; i < positions.size(); ++i) std::ranges::copy(from.row(positions[i]), rows.row(i).begin());
}

}  // namespace

void fill_costs(MatrixView<const double> x, MatrixView<const double> y, const CostRule& rule, MatrixView<double> costs,
                ThreadCount threads) {
  const double per_square = 1.0 / (rule.unit * rule.unit);
  const std::size_t tile = std::clamp(kTileValues / x.cols(), kMinTile, kMaxTile);
  parallel_for_blocks(y.rows(), tile, threads, [&](std::size_t begin, std::size_t end) {
    const auto values = costs.column_range(begin, end - begin);
    simd::squared_distances(x, transposed(y.row_range(begin, end - begin)), values);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (double& value : values.row(i)) value *= per_square;
      simd::apply_map(simd::Map::distance_power, 0.0, rule.power, values.row(i));
    }
  });
}

double longest_distance(const Pool& pool) {
  std::vector<double> lowest(pool.row(0).begin(), pool.row(0).end());
  std::vector<double> highest = lowest;
  for (std::size_t i = 1; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      lowest[k] = std::min(lowest[k], row[k]);
      highest[k] = std::max(highest[k], row[k]);
    }
  }
  double squares = 0.0;
  for (std::size_t k = 0; k < lowest.size(); ++k) squares += (highest[k] - lowest[k]) * (highest[k] - lowest[k]);
  require_finite(squares, "a distance between pooled points");
  if (lowest == highest) return 1.0;
  if (!std::isnormal(squares)) {
    fail(ErrorCode::non_finite_value, "squared distances between the pooled points underflow; rescale the columns");
  }
  return std::sqrt(squares);
}

PooledCosts::PooledCosts(const Pool& pool, const CostRule& rule, ThreadCount threads)
    : rule_(rule), points_(pool.size(), pool.dim()) {
  copy_rows(pool, 0, points_);
  const std::size_t n = pool.size();
  if (n > kMaxStoredBytes / sizeof(double) / n) return;
  stored_ = Matrix<double>(n, n);
  fill_costs(points_, points_, rule_, stored_, threads);
  points_ = Matrix<double>();
}

void PooledCosts::block(std::span<const std::size_t> x, std::span<const std::size_t> y,
                        MatrixView<double> costs) const {
  if (stored()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto from = stored_.row(x[i]);
      const auto to = costs.row(i);
      for (std::size_t j = 0; j < y.size(); ++j) to[j] = from[y[j]];
    }
    return;
  }
  Matrix<double> own(x.size(), points_.cols());
  Matrix<double> others(y.size(), points_.cols());
  gather_rows(points_, x, own);
  gather_rows(points_, y, others);
  fill_costs(own, others, rule_, costs, ThreadCount{1});
}

}  // namespace kqd
