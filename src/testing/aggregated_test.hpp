#pragma once
#include <span>
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "testing/aggregation.hpp"

namespace kqd {

/// The outcome of the aggregate and of each statistic, in the order of the bundles.
struct AggregatedOutcome {
  TestOutcome test;
  std::vector<AggregatedStatistic> statistics;
};

/// The permutation test of an aggregate: every statistic is evaluated for the same permutations, and the aggregate of
/// the observed one is compared with the others. Exact for any number of statistics (see Aggregation). Early stopping
/// is refused: an aggregate needs all permutations. Memory beyond the bundles: one number per statistic and
/// permutation.
[[nodiscard]] AggregatedOutcome aggregated_test(const AggregatedPlan& plan, const PermutationSource& source,
                                                const TestOptions& options, const RunControl* control);

/// One aggregate per permutation of the batches: larger means more extreme among them. For permutations that the caller
/// chose, such as each unit against all others.
[[nodiscard]] std::vector<double> aggregates_of(const AggregatedPlan& plan, std::span<const LabelBatch> batches,
                                                std::size_t permutation_count, ThreadCount threads);

/// The number of permutations that an aggregate draws: as many as the options ask for, or as its rule needs.
[[nodiscard]] std::uint64_t permutations_of_aggregate(const AggregatedPlan& plan, const TestOptions& options);

/// The same from the values of all statistics (rows) for all permutations (columns, the observed one first).
[[nodiscard]] AggregatedOutcome aggregated_outcome(const AggregatedPlan& plan, Matrix<double> values, bool enumerated,
                                                   const TestOptions& options, Seed seed);

}  // namespace kqd
