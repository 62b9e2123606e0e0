#pragma once
#include "experiments/experiments.hpp"

namespace kqd::lab {

/// Figure 1 of the paper: a distribution on the plane, its projection on a direction, and its quantiles along all
/// directions.
[[nodiscard]] ExperimentReport figure_1(const ExperimentOptions& options, const RunControl* control);

/// Figure 2: projections of P and Q on two directions of the feature space, and the gap tau along each.
[[nodiscard]] ExperimentReport figure_2(const ExperimentOptions& options, const RunControl* control);

}  // namespace kqd::lab
