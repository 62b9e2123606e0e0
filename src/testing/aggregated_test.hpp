#pragma once
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "testing/aggregation.hpp"

namespace kqd {

/// The outcome of the aggregate, and each statistic for itself in the order of the bundles.
struct AggregatedOutcome {
  TestOutcome test;
  std::vector<AggregatedStatistic> statistics;
};

/// The permutation test of an aggregate: every statistic is evaluated for the same labellings, and the aggregate of the
/// observed one is compared with the others. Exact for any number of statistics (see Aggregation). Early stopping is
/// refused: an aggregate needs all labellings. Memory beyond the bundles: one number per statistic and labelling.
[[nodiscard]] AggregatedOutcome aggregated_test(const AggregatedPlan& plan, const LabellingSource& source,
                                                const TestOptions& options, const RunControl* control);

}  // namespace kqd
