#include "metrics/quantile/pooled_projections.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 4096;

// Projections of the pooled rows in plan order; blocks of rows are copied together first, so that what a row's value
// rounds to depends on its place in a label-blind order alone.
void project_pool(const Directions& directions, const Pool& pool, MatrixView<double> values, ThreadCount threads) {
  const std::vector<double> origin = directions.linear() ? pooled_mean(pool) : std::vector<double>{};
  parallel_for_blocks(pool.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> rows(end - begin, pool.dim());
    copy_rows(pool, begin, rows);
    directions.evaluate_from(origin, rows, 0, values.column_range(begin, end - begin), ThreadCount{1});
  });
}

double variance(std::span<const double> values) {
  const double mean = sum(values) / static_cast<double>(values.size());
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return squares.value() / static_cast<double>(values.size());
}

// Over 95 % of the ascending values are the same: then the middle one is.
bool mostly_one_value(std::span<const double> sorted) {
  const double middle = sorted[sorted.size() / 2];
  const auto same = std::ranges::upper_bound(sorted, middle) - std::ranges::lower_bound(sorted, middle);
  return static_cast<double>(same) > 0.95 * static_cast<double>(sorted.size());
}

}  // namespace

PooledProjections sorted_projections(const Directions& directions, const TestPool& pool,
                                     std::span<const std::size_t> order, ThreadCount threads) {
  const std::size_t n = order.size();
  PooledProjections result{.values = Matrix<double>(directions.count(), n),
                           .order = Matrix<std::uint32_t>(directions.count(), n),
                           .units = std::vector<double>(directions.count())};
  project_pool(directions, {pool.x.points, pool.y.points, order}, result.values, threads);
  std::vector<double> variances(directions.count());
  std::vector<char> flat(directions.count());
  parallel_for_blocks(directions.count(), 1, threads, [&](std::size_t i, std::size_t) {
    const auto values = result.values.row(i);
    const auto places = result.order.row(i);
    variances[i] = variance(values);
    argsort(values, places);
    std::vector<double> sorted(n);
    for (std::size_t k = 0; k < n; ++k) sorted[k] = values[places[k]];
    const double smallest = sorted.front();
    const double range = sorted.back() - smallest;
    result.units[i] = range > 0.0 ? range : 1.0;
    for (std::size_t k = 0; k < n; ++k) values[k] = (sorted[k] - smallest) / result.units[i];
    flat[i] = mostly_one_value(values) ? 1 : 0;
  });
  result.root_mean_variance = std::sqrt(sum(variances) / static_cast<double>(variances.size()));
  result.num_flat = static_cast<std::size_t>(std::ranges::count(flat, 1));
  return result;
}

}  // namespace kqd
