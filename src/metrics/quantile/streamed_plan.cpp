#include "metrics/quantile/streamed_plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "metrics/quantile/pooled_projections.hpp"

namespace kqd {
StreamedKqdPlan::StreamedKqdPlan(std::shared_ptr<const Directions> directions, const TestPool& pool,
                                 std::vector<std::size_t> order, const MethodOptions& options, Over over,
                                 std::size_t max_bytes)
    : directions_(std::move(directions)),
      x_(pool.x),
      y_(pool.y),
      order_(std::move(order)),
      weights_(pool.weights_of(order_)),
      options_(options),
      over_(over),
      // The kept part and the one at work share the room.
      directions_at_a_time_(std::min(directions_->count(),
                                     directions_that_fit(max_bytes / 2, KqdPlan::bytes_per_direction(order_.size())))) {
  double variances = 0.0;
  for (std::size_t i = 0; i < num_directions(); i += directions_at_a_time_) {
    std::unique_ptr<const KqdPlan> own = part(i, options.threads);
    variances += own->pooled_scale() * own->pooled_scale() * static_cast<double>(own->num_directions());
    num_flat_ += own->num_flat();
    largest_range_ = std::max(largest_range_, own->largest_range());
    lowest_precision_ = std::min(lowest_precision_, own->lowest_precision());
    if (i == 0) first_ = std::move(own);
  }
  pooled_scale_ = std::sqrt(variances / static_cast<double>(num_directions()));
}

std::unique_ptr<const KqdPlan> StreamedKqdPlan::part(std::size_t first, ThreadCount threads) const {
  const std::size_t count = std::min(directions_at_a_time_, num_directions() - first);
  return std::make_unique<const KqdPlan>(
      project_pool(*directions_, {x_.points, y_.points, order_}, first, count, threads), weights_, options_, over_);
}

void StreamedKqdPlan::evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                                          ThreadCount threads) const {
  first_->evaluate_directions(batches, taus.row_range(0, first_->num_directions()), threads);
  for (std::size_t i = directions_at_a_time_; i < num_directions(); i += directions_at_a_time_) {
    stop_point();
    const auto own = part(i, threads);
    own->evaluate_directions(batches, taus.row_range(i, own->num_directions()), threads);
  }
}

void StreamedKqdPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values,
                               ThreadCount threads) const {
  evaluate_over_directions(over_, options_.power, batches, values, threads);
}

}  // namespace kqd
