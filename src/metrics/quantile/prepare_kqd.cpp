#include "metrics/quantile/prepare_kqd.hpp"

#include <algorithm>
#include <utility>

#include "core/fail.hpp"
#include "core/warning.hpp"
#include "directions/reference.hpp"
#include "kernel/resolve.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/feasible.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "metrics/quantile/streamed_plan.hpp"

namespace kqd {
namespace {

// The rows of (X, Y) that leave the samples when the pooled positions `reference` are set aside.
std::vector<std::size_t> rows_to_set_aside(const TestPool& pool, std::span<const std::size_t> reference,
                                           const PlanRequest& request) {
  if (!request.set_aside || reference.empty()) return {};
  std::vector<std::size_t> rows;
  for (const std::size_t position : reference) rows.push_back(pool.order[position]);
  std::ranges::sort(rows);
  return request.whole_units ? request.whole_units(rows) : rows;
}

std::vector<std::size_t> without(const std::vector<std::size_t>& order, const std::vector<std::size_t>& sorted_rows) {
  std::vector<std::size_t> kept;
  kept.reserve(order.size() - sorted_rows.size());
  std::ranges::copy_if(order, std::back_inserter(kept),
                       [&](std::size_t row) { return !std::ranges::binary_search(sorted_rows, row); });
  return kept;
}

bool leaves_two_of_each(const TestPool& pool, const std::vector<std::size_t>& sorted_rows) {
  const auto from_x =
      static_cast<std::size_t>(std::ranges::lower_bound(sorted_rows, pool.x.size()) - sorted_rows.begin());
  return from_x + 2 <= pool.x.size() && sorted_rows.size() - from_x + 2 <= pool.y.size();
}

// Draws directions, with fewer pooled reference points when setting them aside would leave a sample without two rows.
struct Draw {
  DrawnDirections drawn;
  std::vector<std::size_t> set_aside;
};

Draw draw_for_test(const Kernel& kernel, const TestPool& pool, MethodOptions options, const PlanRequest& request,
                   Warnings& warnings) {
  while (true) {
    DrawnDirections drawn = draw_directions(kernel, pool.rows(), options.directions, options.seed, options.threads);
    std::vector<std::size_t> aside = rows_to_set_aside(pool, drawn.pooled_rows, request);
    if (aside.empty() || leaves_two_of_each(pool, aside)) return {std::move(drawn), std::move(aside)};
    // Of mixed directions the pool gives landmarks and reference points, each no more than num_reference.
    const std::size_t pooled = drawn.pooled_rows.size();
    const std::size_t fewer = std::min(pooled, options.directions.num_reference.value_or(pooled)) / 2;
    if (fewer < 1 || !options.directions.coefficients.empty()) {
      fail(ErrorCode::empty_sample,
           "setting {} pooled reference point{} aside leaves fewer than two rows in a sample; use {} or --set-aside no",
           pooled, pooled == 1 ? "" : "s",
           options.directions.family == DirectionFamily::gaussian ? "another reference measure" : "other directions");
    }
    warn(warnings, WarningId::fewer_reference_points, pooled, fewer);
    options.directions.num_reference = fewer;
  }
}

// The plan for prepared.rows, and what it says of itself.
void add_plan(PreparedPlan& prepared, std::shared_ptr<const Directions> directions, const TestPool& pool,
              const MethodOptions& options, Over over, std::unique_ptr<const MmdPlan> mmd) {
  const KernelSpec kernel = directions->kernel().spec();
  prepared.num_directions = directions->count();
  const std::size_t bytes = prepared.num_directions * KqdPlan::bytes_per_direction(prepared.rows.size());
  std::unique_ptr<DirectionalPlan> plan;
  if (mmd == nullptr && options.max_memory > 0 && bytes > options.max_memory) {
    plan = std::make_unique<StreamedKqdPlan>(directions, pool, prepared.rows, options, over, options.max_memory);
  } else {
    plan = std::make_unique<KqdPlan>(*directions, pool, prepared.rows, options, over, std::move(mmd));
  }
  warn_about_flat_directions(plan->num_flat(), prepared.num_directions, kernel, prepared.warnings);
  prepared.pooled_scale = plan->pooled_scale();
  prepared.plan = std::move(plan);
  prepared.directions = std::move(directions);
}

}  // namespace

MethodOptions freeze(const MethodOptions& options, const Directions& directions, bool centered) {
  MethodOptions frozen = options;
  // Coefficients are divided by the norm, or what the jitter makes of it, already; centered forms insist on the norm.
  if (options.directions.jitter > 0.0 && !centered) frozen.directions.normalise = false;
  frozen.directions.jitter = 0.0;
  frozen.kernel = directions.kernel().spec();
  frozen.directions.num_reference.reset();  // the points say it themselves
  if (options.directions.family == DirectionFamily::principal || options.directions.family == DirectionFamily::mixed) {
    frozen.directions.family = DirectionFamily::gaussian;
    frozen.directions.normalise = false;  // the coefficients hold the norms, or the whitening
  }
  if (const auto* kernel_directions = dynamic_cast<const KernelDirections*>(&directions)) {
    frozen.directions.reference = ReferenceMeasure::points;
    frozen.directions.reference_points = Matrix<double>(kernel_directions->reference());
    frozen.directions.coefficients = Matrix<double>(kernel_directions->coefficients());
  } else if (const auto* linear = dynamic_cast<const LinearDirections*>(&directions)) {
    // u_i(x) = w_i . x is the linear kernel with reference points w_1..w_l and unit coefficients.
    const std::size_t l = linear->count();
    frozen.directions.family = DirectionFamily::gaussian;
    frozen.directions.reference = ReferenceMeasure::points;
    frozen.directions.reference_points = Matrix<double>(linear->weights());
    frozen.directions.coefficients = Matrix<double>(l, l, 0.0);
    for (std::size_t i = 0; i < l; ++i) frozen.directions.coefficients(i, i) = 1.0;
  }
  return frozen;
}

PreparedPlan prepare_kqd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request, Over over,
                         bool centered) {
  if (options.directions.reference == ReferenceMeasure::balanced) {
    fail(ErrorCode::invalid_option,
         "reference balanced depends on the labels, so a test with it is not exact; use pooled, gaussian or uniform");
  }
  if (centered && !options.directions.normalise) {
    fail(ErrorCode::invalid_option, "a centered discrepancy needs normalised directions (normalise)");
  }
  PreparedPlan prepared;
  const Kernel kernel(
      has_own_kernel(options.directions.family)
          ? parse_kernel("linear")
          : resolve(options.kernel, pool.rows(), options.bandwidth_rule, options.seed, prepared.warnings));
  Draw draw = draw_for_test(kernel, pool, options, request, prepared.warnings);
  const Directions& directions = *draw.drawn.directions;
  std::ranges::move(draw.drawn.warnings, std::back_inserter(prepared.warnings));
  prepared.num_set_aside = draw.set_aside.size();
  prepared.rows = without(pool.order, draw.set_aside);
  prepared.num_reference = draw.drawn.num_reference;
  prepared.frozen = freeze(options, directions, centered);

  std::unique_ptr<const MmdPlan> mmd;
  if (centered) {
    require_feasible_test(prepared.rows.size(), pool.x.dim(), request.permutation_count, options.allow_quadratic,
                          "the MMD of the centered discrepancy");
    mmd = std::make_unique<MmdPlan>(directions.kernel(), pool, prepared.rows, MmdEstimate::v_squared, options.threads);
  }
  add_plan(prepared, draw.drawn.directions, pool, options, over, std::move(mmd));
  return prepared;
}

PreparedPlan prepare_along(std::shared_ptr<const Directions> directions, const TestPool& pool,
                           std::vector<std::size_t> rows, const MethodOptions& options, Over over) {
  PreparedPlan prepared;
  prepared.rows = std::move(rows);
  prepared.frozen = options;
  add_plan(prepared, std::move(directions), pool, options, over, nullptr);
  return prepared;
}

}  // namespace kqd
