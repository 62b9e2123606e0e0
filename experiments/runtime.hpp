#pragma once
#include "experiments/experiments.hpp"

namespace kqd::lab {

/// Figure 4 of the paper: seconds of a statistic and of a test by method and sample size, and for e-KQD by step. On one
/// thread; times differ from run to run.
[[nodiscard]] ExperimentReport runtime(const ExperimentOptions& options, const RunControl* control);

}  // namespace kqd::lab
