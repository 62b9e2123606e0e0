#include "metrics/quantile/gap_objective.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "core/vectors.hpp"
#include "kernel/kernel_traits.hpp"
#include "quantiles/sort.hpp"
#include "quantiles/weighted_quantiles.hpp"

namespace kqd {

GapProblem::GapProblem(const Slices& slices_in, std::span<const std::size_t> x_in, std::span<const std::size_t> y_in,
                       std::span<const double> weights_in, const MethodOptions& options, bool centered)
    : slices(slices_in),
      x(x_in),
      y(y_in),
      weights(weights_in),
      weighting(options.weighting),
      power{options.power},
      signed_weights(slices_in.num_points(), 0.0) {
  require_levels_known(options.point_evaluated_levels, !weights.empty());
  if (weights.empty()) grid.emplace(x.size(), y.size(), weighting, options.point_evaluated_levels);
  const auto set_signed = [&](std::span<const std::size_t> group, double sign) {
    CompensatedSum total;
    for (const std::size_t i : group) total.add(weights.empty() ? 1.0 : weights[i]);
    for (const std::size_t i : group) signed_weights[i] = sign * (weights.empty() ? 1.0 : weights[i]) / total.value();
  };
  set_signed(x, 1.0);
  set_signed(y, -1.0);
  if (!centered) return;
  std::vector<double> witness(slices.dim());
  slices.pull_back({}, {}, signed_weights, witness);
  mmd_squared = dot(witness, witness);
}

GapObjective::GapObjective(const GapProblem& problem)
    : problem_(problem), values_(problem.slices.num_points()), slopes_(values_.size()) {
  for (const auto& [group, positions] : {std::pair{&x_, problem.x}, std::pair{&y_, problem.y}}) {
    group->positions = positions;
    group->values.resize(positions.size());
    group->order.resize(positions.size());
    group->ordered.resize(positions.size());
    group->slopes.resize(positions.size());
  }
}

void GapObjective::evaluate(std::span<const double> w) {
  problem_.slices.evaluate(w, values_);
  require_finite(values_, "a value along a direction");
  gather(x_);
  gather(y_);
}

void GapObjective::gather(Group& group) const {
  for (std::size_t k = 0; k < group.values.size(); ++k) group.values[k] = values_[group.positions[k]];
}

void GapObjective::find_order(Group& group) const {
  argsort(group.values, group.order);
  if (problem_.weights.empty()) return;
  WeightedQuantiles quantiles;
  for (const std::uint32_t k : group.order) quantiles.add(group.values[k], problem_.weights[group.positions[k]]);
  const auto cumulative = quantiles.function().cumulative;
  group.cumulative.assign(cumulative.begin(), cumulative.end());
}

double GapObjective::value(std::span<const double> w) {
  evaluate(w);
  if (problem_.grid) {
    sort_ascending(std::span(x_.values));
    sort_ascending(std::span(y_.values));
    return quantile_gap(x_.values, y_.values, *problem_.grid, problem_.power, form());
  }
  for (Group* group : {&x_, &y_}) {
    find_order(*group);
    for (std::size_t k = 0; k < group->order.size(); ++k) group->ordered[k] = group->values[group->order[k]];
  }
  return quantile_gap({x_.ordered, x_.cumulative}, {y_.ordered, y_.cumulative}, problem_.weighting, problem_.power,
                      form());
}

double GapObjective::mean_gap() const {
  return dot(problem_.signed_weights, values_);
}

GapForm GapObjective::form() const {
  if (!problem_.mmd_squared) return {};
  const double c = mean_gap();
  return {.centered = true, .shift = *problem_.mmd_squared - c * c};
}

double GapObjective::gradient(std::span<const double> w, std::span<double> gradient) {
  evaluate(w);
  find_order(x_);
  find_order(y_);
  return slopes(w, gradient);
}

double GapObjective::gradient_of_coupling(std::span<const double> w, std::span<double> gradient) {
  evaluate(w);
  return slopes(w, gradient);
}

double GapObjective::slopes(std::span<const double> w, std::span<double> gradient) {
  for (Group* group : {&x_, &y_}) {
    for (std::size_t k = 0; k < group->order.size(); ++k) group->ordered[k] = group->values[group->order[k]];
  }
  const GapValue gap =
      problem_.grid ? gap_slopes(x_.ordered, y_.ordered, *problem_.grid, problem_.power, x_.slopes, y_.slopes, form())
                    : gap_slopes({x_.ordered, x_.cumulative}, {y_.ordered, y_.cumulative}, problem_.weighting,
                                 problem_.power, x_.slopes, y_.slopes, form());
  // The shift is MMD^2 - c^2 with c = sum_i h_i u(x_i).
  const double per_weight = problem_.mmd_squared ? -2.0 * mean_gap() * gap.shift_slope : 0.0;
  for (std::size_t i = 0; i < slopes_.size(); ++i) slopes_[i] = per_weight * problem_.signed_weights[i];
  for (const Group* group : {&x_, &y_}) {
    for (std::size_t k = 0; k < group->order.size(); ++k) {
      slopes_[group->positions[group->order[k]]] += group->slopes[k];
    }
  }
  problem_.slices.pull_back(w, values_, slopes_, gradient);
  return gap.tau;
}

}  // namespace kqd
