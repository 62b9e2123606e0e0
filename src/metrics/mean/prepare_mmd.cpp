#include "metrics/mean/prepare_mmd.hpp"

#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/resolve.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/laplace_line.hpp"

namespace kqd {

void require_two_rows_of_weight(const SampleView& sample, std::string_view name) {
  constexpr double kLeastShare = 1e-10;  // of the other rows: below it rounding is all that 1 - sum a_i^2 holds
  if (sample.size() < 2) {
    fail(ErrorCode::empty_sample, "{} has one row, the unbiased MMD needs at least two (mmd-v takes one)", name);
  }
  CompensatedSum squares;
  for (const double a : normalised_weights(sample)) squares.add(a * a);
  if (1.0 - squares.value() >= kLeastShare) return;
  fail(ErrorCode::invalid_weights,
       "{} has all its weight on one row, the unbiased MMD needs at least two (mmd-v takes one)", name);
}

PreparedPlan prepare_mmd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                         MmdEstimate estimate) {
  if (estimate == MmdEstimate::u) {
    require_two_rows_of_weight(pool.x, "X");
    require_two_rows_of_weight(pool.y, "Y");
  }
  const bool on_line = is_laplace_on_line(options.kernel, pool.x.dim());
  if (!on_line) {
    require_feasible_test(pool.order.size(), pool.x.dim(), request.permutation_count, options.allow_quadratic,
                          "the MMD");
  }
  PreparedPlan prepared;
  prepared.frozen = options;
  prepared.frozen.kernel =
      resolve(options.kernel, pool.rows(), options.bandwidth_rule, options.seed, prepared.warnings);
  prepared.rows = pool.order;
  double variance = 0.0;
  if (on_line) {
    auto plan = std::make_unique<LaplaceLinePlan>(*prepared.frozen.kernel.bandwidth, pool, estimate);
    variance = plan->pooled_variance();
    prepared.plan = std::move(plan);
  } else {
    auto plan = std::make_unique<MmdPlan>(Kernel(prepared.frozen.kernel), pool, pool.order, estimate, options.threads);
    variance = plan->pooled_variance();
    prepared.plan = std::move(plan);
  }
  prepared.squares = estimate != MmdEstimate::v_root;
  prepared.pooled_scale = prepared.squares ? variance : std::sqrt(variance);
  return prepared;
}

}  // namespace kqd
