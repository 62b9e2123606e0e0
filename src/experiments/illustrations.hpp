#pragma once
#include "kqd/experiments/experiments.hpp"

namespace kqd::lab {

/// Figure 1 of the paper: a distribution on the plane, its projection on a direction, and its quantiles along all
/// directions.
[[nodiscard]] ExperimentReport figure_1(const ExperimentOptions& options, const RunControl* control);

/// Figure 2: how the direction in the feature space changes what is seen of P and Q, and the gap tau between them.
[[nodiscard]] ExperimentReport figure_2(const ExperimentOptions& options, const RunControl* control);

}  // namespace kqd::lab
