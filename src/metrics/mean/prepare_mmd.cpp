#include "metrics/mean/prepare_mmd.hpp"

#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "kernel/resolve.hpp"
#include "metrics/affordable.hpp"
#include "metrics/mean/laplace_line.hpp"

namespace kqd {

PreparedPlan prepare_mmd(const TestPool& pool, const KqdOptions& options, const PlanRequest& request,
                         MmdEstimate estimate) {
  for (const auto& [sample, name] : {std::pair{&pool.x, "X"}, std::pair{&pool.y, "Y"}}) {
    if (estimate == MmdEstimate::u && sample->size() < 2) {
      fail(ErrorCode::empty_sample, "{} has one row, the unbiased MMD needs at least two (mmd-v takes one)", name);
    }
  }
  const bool on_line = is_laplace_on_line(options.kernel, pool.x.dim());
  if (!on_line) {
    const std::size_t rows = pool.order.size();
    require_affordable(rows, pool.x.dim(), options.allow_quadratic, "the MMD");
    require_affordable_seconds(seconds_of_labelled_gram(rows, pool.x.dim(), request.num_labellings),
                               options.allow_quadratic,
                               fmt::format("the MMD of {} labellings", request.num_labellings));
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
