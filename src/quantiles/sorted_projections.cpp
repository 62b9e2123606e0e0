#include "quantiles/sorted_projections.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "quantiles/sort.hpp"
#include "quantiles/weighted_quantiles.hpp"

namespace kqd {

SortedProjections::SortedProjections(Matrix<double> projections, std::span<const double> weights, ThreadCount threads)
    : values_(std::move(projections)) {
  if (weights.empty()) {
    parallel_for_blocks(values_.rows(), 1, threads,
                        [&](std::size_t i, std::size_t) { sort_ascending(values_.row(i)); });
    return;
  }
  cumulative_ = Matrix<double>(values_.rows(), values_.cols());
  const std::vector<double> scaled = scaled_near_one(weights);
  parallel_for_blocks(values_.rows(), 1, threads, [&](std::size_t i, std::size_t) { sort_weighted(i, scaled); });
}

void SortedProjections::sort_weighted(std::size_t direction, std::span<const double> weights) {
  const auto values = values_.row(direction);
  const auto cumulative = cumulative_.row(direction);
  std::vector<std::uint32_t> order(values.size());
  argsort(values, order);
  WeightedQuantiles quantiles;
  for (const std::uint32_t row : order) quantiles.add(values[row], weights[row]);
  const QuantileFunction function = quantiles.function();
  std::ranges::copy(function.cumulative, cumulative.begin());
  std::ranges::copy(function.values, values.begin());
}

double SortedProjections::mean(std::size_t direction) const {
  const auto values = values_.row(direction);
  if (!weighted()) return sum(values) / static_cast<double>(values.size());
  const auto cumulative = cumulative_.row(direction);
  CompensatedSum total;
  for (std::size_t k = 0; k < values.size(); ++k) {
    total.add((cumulative[k] - (k == 0 ? 0.0 : cumulative[k - 1])) * values[k]);
  }
  return total.value();
}

QuantileFunction SortedProjections::quantiles(std::size_t direction) const {
  if (cumulative_.empty()) return {values_.row(direction), {}};
  return {values_.row(direction), cumulative_.row(direction)};
}

}  // namespace kqd
