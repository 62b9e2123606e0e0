#include "metrics/quantile/pooled_projections.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "metrics/quantile/kqd.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 4096;

// Replaces ascending values by the sum of 1 / sqrt(F (1 - F)) over the gaps below them.
void sum_anderson_darling_weights(std::span<double> sorted) {
  const auto n = static_cast<double>(sorted.size());
  double previous = sorted.front();
  double total = 0.0;
  sorted.front() = 0.0;
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    const double below = static_cast<double>(k) / n;
    if (sorted[k] != previous) total += 1.0 / std::sqrt(below * (1.0 - below));
    previous = std::exchange(sorted[k], total);
  }
}

// In units of a power of two near the largest value, so that no square leaves the range of numbers.
double deviation(std::span<const double> values) {
  const std::vector<double> scaled = scaled_near_one(values);
  const double mean = sum(scaled) / static_cast<double>(scaled.size());
  CompensatedSum squares;
  for (const double v : scaled) squares.add((v - mean) * (v - mean));
  return std::scalbn(std::sqrt(squares.value() / static_cast<double>(scaled.size())), binary_magnitude(values));
}

double root_mean_square(std::span<const double> values) {
  CompensatedSum squares;
  for (const double v : scaled_near_one(values)) squares.add(v * v);
  return std::scalbn(std::sqrt(squares.value() / static_cast<double>(values.size())), binary_magnitude(values));
}

// If most of the ascending values are equal, the middle one is that value.
bool is_flat_line(std::span<const double> sorted) {
  const double middle = sorted[sorted.size() / 2];
  const auto same = std::ranges::upper_bound(sorted, middle) - std::ranges::lower_bound(sorted, middle);
  return is_mostly_one_value(static_cast<std::size_t>(same), sorted.size());
}

}  // namespace

Matrix<double> project_pool(const Directions& directions, const Pool& pool, std::size_t first, std::size_t count,
                            ThreadCount threads) {
  Matrix<double> values(count, pool.size());
  project_pool(directions, pool, first, values, threads);
  return values;
}

void project_pool(const Directions& directions, const Pool& pool, std::size_t first, MatrixView<double> values,
                  ThreadCount threads) {
  const std::vector<double> origin = directions.linear() ? pooled_mean(pool) : std::vector<double>{};
  parallel_for_blocks(pool.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> rows(end - begin, pool.dim());
    copy_rows(pool, begin, rows);
    directions.evaluate_from(origin, rows, first, values.column_range(begin, end - begin), ThreadCount{1});
  });
}

Matrix<double> project_pool(const FeatureMap& functions, const Pool& pool, std::size_t first, std::size_t count,
                            ThreadCount threads) {
  Matrix<double> values(count, pool.size());
  parallel_for_blocks(pool.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> rows(kFeatureRows, pool.dim());
    Matrix<double> features(kFeatureRows, first + count);
    for (std::size_t start = begin; start < end; start += kFeatureRows) {
      const std::size_t num = std::min(kFeatureRows, end - start);
      copy_rows(pool, start, rows.view().row_range(0, num));
      functions.evaluate(rows.view().row_range(0, num), features.view().row_range(0, num));
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t i = 0; i < num; ++i) values(k, start + i) = features(i, first + k);
      }
    }
  });
  return values;
}

PooledProjections sort_projections(Matrix<double> projections, GapWeight weight, ThreadCount threads) {
  const std::size_t l = projections.rows();
  const std::size_t n = projections.cols();
  PooledProjections result{.values = std::move(projections),
                           .order = Matrix<std::uint32_t>(l, n),
                           .units = std::vector<double>(l),
                           .origins = std::vector<double>(l)};
  std::vector<double> deviations(l);
  std::vector<char> flat(l);
  parallel_for_blocks(l, 1, threads, [&](std::size_t i, std::size_t) {
    const auto values = result.values.row(i);
    const auto places = result.order.row(i);
    deviations[i] = deviation(values);
    argsort(values, places);
    std::vector<double> sorted(n);
    for (std::size_t k = 0; k < n; ++k) sorted[k] = values[places[k]];
    if (weight == GapWeight::anderson_darling) sum_anderson_darling_weights(sorted);
    const double smallest = sorted.front();
    const double range = sorted.back() - smallest;
    result.units[i] = range > 0.0 ? range : 1.0;
    result.origins[i] = smallest;
    for (std::size_t k = 0; k < n; ++k) values[k] = (sorted[k] - smallest) / result.units[i];
    flat[i] = is_flat_line(values) ? 1 : 0;
  });
  result.root_mean_variance = root_mean_square(deviations);
  result.num_flat = static_cast<std::size_t>(std::ranges::count(flat, 1));
  return result;
}

std::vector<double> pooled_levels(std::span<const std::uint32_t> order, std::span<const double> weights) {
  std::vector<double> levels(order.empty() ? 0 : order.size() - 1);
  if (weights.empty()) {
    for (std::size_t k = 0; k < levels.size(); ++k) {
      levels[k] = static_cast<double>(k + 1) / static_cast<double>(order.size());
    }
    return levels;
  }
  CompensatedSum total;
  for (const std::uint32_t row : order) total.add(weights[row]);
  CompensatedSum below;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    below.add(weights[order[k]]);
    levels[k] = std::min(1.0, below.over(total));
  }
  return levels;
}

double expected_gap(std::span<const double> sorted, std::span<const double> levels) {
  CompensatedSum total;
  for (std::size_t k = 0; k + 1 < sorted.size(); ++k) {
    total.add(std::sqrt(levels[k] * (1.0 - levels[k])) * (sorted[k + 1] - sorted[k]));
  }
  return total.value();
}

std::size_t directions_that_fit(std::size_t max_bytes, std::size_t bytes_each) {
  return std::max<std::size_t>(1, max_bytes / bytes_each);
}

PooledProjections sorted_projections(const Directions& directions, const TestPool& pool,
                                     std::span<const std::size_t> order, ThreadCount threads) {
  const Pool rows{pool.x.points, pool.y.points, order};
  return sort_projections(project_pool(directions, rows, 0, directions.count(), threads), GapWeight::size, threads);
}

}  // namespace kqd
