#pragma once
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// Prepares an estimate of the MMD.
[[nodiscard]] PreparedPlan prepare_mmd(const TestPool& pool, const KqdOptions& options, const PlanRequest& request,
                                       MmdEstimate estimate);

}  // namespace kqd
