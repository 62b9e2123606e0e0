#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fail.hpp"
#include "core/warning.hpp"
#include "directions/reference.hpp"
#include "metrics/all_methods.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/feasible.hpp"
#include "metrics/quantile/grouped_kqd_plan.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/kqd_plan.hpp"

namespace kqd {
namespace {

// The rows of (X, Y) to hold out when reference points are the pooled positions `reference`.
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

// Directions, with fewer pooled reference points where holding them out would leave a sample without two rows.
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
           "holding out {} pooled reference point{} leaves fewer than two rows in a sample; use {} "
           "or " KQD_OPTION("set_aside=no"),
           pooled, pooled == 1 ? "" : "s",
           options.directions.family == DirectionFamily::gaussian ? "another reference measure" : "other directions");
    }
    warn(warnings, WarningId::fewer_reference_points, pooled, fewer);
    options.directions.num_reference = fewer;
  }
}

// True when the directions are independent draws from one distribution.
bool draws_independently(const DirectionOptions& options) {
  const bool random = options.family == DirectionFamily::gaussian || options.family == DirectionFamily::linear;
  return random && options.coefficients.empty();
}

// Adds the plan for prepared.rows and its description.
void add_plan(PreparedPlan& prepared, std::shared_ptr<const Directions> directions, const TestPool& pool,
              const MethodOptions& options, Over over, bool independent, std::unique_ptr<const MmdPlan> mmd) {
  const KernelSpec kernel = directions->kernel().spec();
  prepared.num_directions = directions->count();
  const std::size_t bytes = prepared.num_directions * KqdPlan::bytes_per_direction(prepared.rows.size());
  std::unique_ptr<DirectionalPlan> plan;
  if (prepared.grouped != nullptr) {
    plan = std::make_unique<GroupedKqdPlan>(prepared.grouped, directions, options, over);
  } else if (mmd == nullptr && options.max_memory > 0 && bytes > options.max_memory) {
    plan = std::make_unique<StreamedKqdPlan>(directions, pool, prepared.rows, options, over, options.max_memory);
  } else {
    plan = std::make_unique<KqdPlan>(*directions, pool, prepared.rows, options, over, std::move(mmd));
  }
  if (independent) plan->set_independent_directions(over, options.power);
  warn_about_flat_directions(plan->num_flat(), prepared.num_directions, kernel, prepared.warnings);
  prepared.pooled_scale = plan->pooled_scale();
  prepared.per_direction = [&gaps = *plan](const LabelBatch& batch, ThreadCount threads) {  // prepared.plan owns it
    return gaps.per_direction(batch, threads);
  };
  prepared.plan = std::move(plan);
  prepared.directions = std::move(directions);
}

}  // namespace

MethodOptions freeze(const MethodOptions& options, const Directions& directions, bool centered) {
  MethodOptions frozen = options;
  // Coefficients are divided by the norm with its jitter already; centered forms insist on the norm itself.
  if (options.directions.jitter > 0.0 && !centered) frozen.directions.normalise = false;
  frozen.directions.jitter = 0.0;
  frozen.kernel = directions.kernel().spec();
  frozen.directions.num_reference.reset();  // given by the points
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
  if (centered) require_normalised_directions(options);
  PreparedPlan prepared;
  const Kernel kernel(kernel_of_directions(options, pool.rows(), prepared.warnings));
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
  if (request.groups && !centered && !options.point_evaluated_levels) {
    prepared.grouped = group_rows(pool, prepared.rows);
  }
  add_plan(prepared, draw.drawn.directions, pool, options, over, draws_independently(options.directions),
           std::move(mmd));
  return prepared;
}

PreparedPlan prepare_along(std::shared_ptr<const Directions> directions, const TestPool& pool,
                           std::vector<std::size_t> rows, const MethodOptions& options, Over over, bool independent) {
  PreparedPlan prepared;
  prepared.rows = std::move(rows);
  prepared.frozen = options;
  add_plan(prepared, std::move(directions), pool, options, over, independent, nullptr);
  return prepared;
}

namespace {

using Distance = DistanceResult (*)(const SampleView&, const SampleView&, const MethodOptions&);

constexpr MethodUses kUses = {.kernel = true,
                              .directions = true,
                              .num_directions = true,
                              .points = true,
                              .power = true,
                              .weighting = true,
                              .max_memory = true};

template <Over over>
SharedSlices slices(const Pool& pool, const MethodOptions& options) {
  return draw_slices(pool, options, over);
}

template <Over over, bool centered>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_kqd(pool, options, request, over, centered);
}

constexpr std::string_view kPaper = "Naslidnyk, Chau, Briol, Muandet: Kernel Quantile Embeddings (ICML 2025)";

}  // namespace

Method ekqd_method() {
  return {.info = {.id = "ekqd",
                   .family = "kernel quantiles",
                   .summary = "expected kernel quantile discrepancy: mean gap of quantiles over directions",
                   .reports = "the root (mean_i tau_p^p)^(1/p), >= 0",
                   .cost = "l N m + l N log N",
                   .permutation = "l N",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "e-KQD_p = (1/l sum_i tau_p(u_i)^p)^(1/p), where tau_p(u) is the p-Wasserstein distance between "
                       "the two samples seen along the direction u, with levels weighted by nu. Defaults: Gaussian "
                       "kernel with the median bandwidth, l = 64 directions of the Gaussian measure, up to 1,024 for "
                       "fewer than 8,000 rows, m = max(64, l/2) reference points drawn from a Gaussian fitted to the "
                       "pool, p = 1, uniform nu. With the linear "
                       "kernel and linear directions it is the sliced Wasserstein distance.",
                   .reference = kPaper,
                   .sign_flip = true,
                   .groups = true,
                   .uses = kUses},
          .distance = static_cast<Distance>(ekqd),
          .slices = slices<Over::mean>,
          .prepare = prepare<Over::mean, false>};
}

Method ekqd_centered_method() {
  return {
      .info = {.id = "ekqd-centered",
               .family = "kernel quantiles",
               .summary = "e-KQD of the embeddings centered at the kernel mean",
               .reports = "the root, between MMD_V and sqrt(e-KQD_2^2 + MMD_V^2) for p = 2",
               .cost = "N^2 d + l N m + l N log N",
               .permutation = "N^2 + l N",
               .calibrations = "permutation",
               .details = "As ekqd with |q_P - q_Q| replaced by sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2), c_i the mean "
                          "difference along u_i. Sees everything the MMD sees, and costs as much.",
               .reference = kPaper,
               .centered = true,
               .uses = kUses},
      .distance = static_cast<Distance>(ekqd_centered),
      .prepare = prepare<Over::mean, true>};
}

Method supkqd_method() {
  return {
      .info = {.id = "supkqd",
               .family = "kernel quantiles",
               .summary = "largest gap of quantiles over the drawn directions",
               .reports = "the root max_i tau_p(u_i), >= 0",
               .cost = "l N m + l N log N",
               .permutation = "l N",
               .calibrations = "permutation, sign-flip",
               .details =
                   "sup-KQD_p over l drawn directions: a maximum over a sample of directions, not the supremum over "
                   "the whole sphere.",
               .reference = kPaper,
               .supremum = true,
               .sign_flip = true,
               .groups = true,
               .uses = kUses},
      .distance = static_cast<Distance>(supkqd),
      .slices = slices<Over::maximum>,
      .prepare = prepare<Over::maximum, false>};
}

Method supkqd_centered_method() {
  return {.info = {.id = "supkqd-centered",
                   .family = "kernel quantiles",
                   .summary = "sup-KQD of the embeddings centered at the kernel mean",
                   .reports = "the root, >= MMD_V for p = 2",
                   .cost = "N^2 d + l N m + l N log N",
                   .permutation = "N^2 + l N",
                   .calibrations = "permutation",
                   .details = "As supkqd with the centered gap of ekqd-centered.",
                   .reference = kPaper,
                   .centered = true,
                   .supremum = true,
                   .uses = kUses},
          .distance = static_cast<Distance>(supkqd_centered),
          .prepare = prepare<Over::maximum, true>};
}

}  // namespace kqd
