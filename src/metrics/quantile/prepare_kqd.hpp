#pragma once
#include <memory>
#include <vector>

#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/over_directions.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// Prepares e-KQD (mean) or sup-KQD (maximum), centered or not. Reference points that are pooled rows are spikes of
/// their own directions: with `set_aside` they leave the samples, together with the rows their design
/// binds them to. Throws Error{invalid_option} for the balanced reference measure, which depends on the labels.
[[nodiscard]] PreparedPlan prepare_kqd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                                       Over over, bool centered);

/// The options with everything that was drawn from a pool made explicit: they give the same directions for other rows.
[[nodiscard]] MethodOptions freeze(const MethodOptions& options, const Directions& directions, bool centered);

/// Prepares e-KQD or sup-KQD along directions that are there already, for the rows `rows` of (X, Y) in label-blind
/// order. The directions must not depend on the labels of those rows.
[[nodiscard]] PreparedPlan prepare_along(std::shared_ptr<const Directions> directions, const TestPool& pool,
                                         std::vector<std::size_t> rows, const MethodOptions& options, Over over);

}  // namespace kqd
