#include "metrics/mean/prepare_mmd.hpp"

#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "kernel/resolve.hpp"
#include "metrics/affordable.hpp"

namespace kqd {

PreparedPlan prepare_mmd(const TestPool& pool, const KqdOptions& options, const PlanRequest& /*request*/,
                         MmdEstimate estimate) {
  for (const auto& [sample, name] : {std::pair{&pool.x, "X"}, std::pair{&pool.y, "Y"}}) {
    if (estimate == MmdEstimate::u && sample->size() < 2) {
      fail(ErrorCode::empty_sample, "{} has one row, the unbiased MMD needs at least two (mmd-v takes one)", name);
    }
  }
  require_affordable(pool.order.size(), pool.x.dim(), options.allow_quadratic, "the MMD");
  PreparedPlan prepared;
  prepared.frozen = options;
  prepared.frozen.kernel =
      resolve(options.kernel, pool.rows(), options.bandwidth_rule, options.seed, prepared.warnings);
  prepared.rows = pool.order;
  auto plan = std::make_unique<MmdPlan>(Kernel(prepared.frozen.kernel), pool, pool.order, estimate, options.threads);
  const double variance = plan->pooled_variance();
  prepared.pooled_scale = estimate == MmdEstimate::v_root ? std::sqrt(variance) : variance;
  prepared.plan = std::move(plan);
  return prepared;
}

}  // namespace kqd
