#pragma once
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "metrics/method.hpp"
#include "testing/aggregation.hpp"

namespace kqd {

/// A test whose permutations move rows over positions that keep their labels and weights.
struct PrecisionOutcome {
  TestOutcome test;
  std::vector<AggregatedStatistic> statistics;  ///< of an aggregate; else empty
  double effect = 0.0;                          ///< statistic of the plan minus its permutation mean
};

/// The test of weights that do not depend on the values [docs/design/0003-validity.md]: under the null hypothesis every
/// arrangement of the rows over the positions of X and Y is equally likely given the weights of the positions, whatever
/// the statistic. Works for every method that takes weights, and computes it from scratch for every permutation.
/// `pool` has the weights and an order that does not depend on them; `prepared` is its plan. `positions` are
/// those of (X, Y) in an order that the rows and weights at them decide, so that the result does not depend on how rows
/// are listed. The design is independent, paired or blocks.
[[nodiscard]] PrecisionOutcome precision_test(const Method& method, const TestPool& pool, const MethodOptions& options,
                                              const PlanRequest& request, const PreparedPlan& prepared,
                                              std::span<const std::size_t> positions, const TestOptions& test,
                                              const RunControl* control);

}  // namespace kqd
