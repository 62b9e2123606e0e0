#pragma once
#include <string_view>

#include "kqd/metrics/discrepancy.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// Throws Error{empty_sample, invalid_weights} for a sample without two rows of weight, which the unbiased MMD needs.
void require_two_rows_of_weight(const SampleView& sample, std::string_view name);

/// Prepares an estimate of the MMD.
[[nodiscard]] PreparedPlan prepare_mmd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                                       MmdEstimate estimate);

}  // namespace kqd
