#include "kqd/metrics/mmd.hpp"

#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "metrics/all_methods.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/laplace_line.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/mean/mmd_plan.hpp"

namespace kqd {
namespace {

// The kernel with its bandwidth, after the cost check.
KernelSpec feasible_kernel(const CheckedSamples& samples, const MethodOptions& options, Warnings& warnings) {
  const SampleView& x = samples.x;
  if (!is_laplace_on_line(options.kernel, x.dim())) {
    require_feasible(x.size() + samples.y.size(), x.dim(), options.allow_quadratic, "the MMD");
  }
  return resolve_on_test_pool(samples.x, samples.y, options, warnings);
}

// sum_i a_i^2 k(x_i, x_i) and sum_i a_i^2, the terms that the unbiased estimate excludes.
struct Diagonal {
  double kernel = 0.0;
  double weights = 0.0;
};

Diagonal diagonal_part(const Kernel& kernel, const SampleView& sample) {
  const std::vector<double> a = normalised_weights(sample);
  std::vector<double> values(sample.size());
  kernel.diagonal(sample.points, values);
  CompensatedSum with_kernel;
  CompensatedSum only;
  for (std::size_t i = 0; i < a.size(); ++i) {
    with_kernel.add(a[i] * a[i] * values[i]);
    only.add(a[i] * a[i]);
  }
  return {with_kernel.value(), only.value()};
}

}  // namespace

DistanceResult mmd_v(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  result.kernel = feasible_kernel(samples, options, result.warnings);
  result.statistic_power = is_laplace_on_line(result.kernel, x.dim())
                               ? laplace_line_norms(*result.kernel.bandwidth, samples.x, samples.y).difference
                               : mmd_v_squared(Kernel(result.kernel), samples.x, samples.y, options.threads);
  result.statistic = std::sqrt(result.statistic_power);
  result.details = {{"mmd_squared", result.statistic_power}};
  return result;
}

DistanceResult mmd(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  result.kernel = feasible_kernel(samples, options, result.warnings);
  require_two_rows_of_weight(samples.x, "X");
  require_two_rows_of_weight(samples.y, "Y");
  const Kernel kernel(result.kernel);
  const Diagonal dx = diagonal_part(kernel, samples.x);
  const Diagonal dy = diagonal_part(kernel, samples.y);
  if (is_laplace_on_line(result.kernel, x.dim())) {
    result.statistic =
        unbiased_from(laplace_line_norms(*result.kernel.bandwidth, samples.x, samples.y), {dx.weights, dy.weights});
    result.statistic_power = result.statistic;
    return result;
  }
  const MeanProducts products = mean_products(kernel, samples.x, samples.y, options.threads);
  // sum_{i != j} a_i a_j k / (1 - sum a_i^2) within each sample.
  const double xx = (products.xx - dx.kernel) / (1.0 - dx.weights);
  const double yy = (products.yy - dy.kernel) / (1.0 - dy.weights);
  result.statistic = (xx - products.xy) + (yy - products.xy);
  result.statistic_power = result.statistic;
  return result;
}

void require_two_rows_of_weight(const SampleView& sample, std::string_view name) {
  constexpr double kLeastShare = 1e-10;  // of the other rows: below it 1 - sum a_i^2 is rounding error
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
  PreparedPlan prepared = plan_on_all_rows(pool, options);
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

namespace {

template <MmdEstimate estimate>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_mmd(pool, options, request, estimate);
}

constexpr std::string_view kGretton = "Gretton et al.: A Kernel Two-Sample Test (JMLR 2012)";

}  // namespace

Method mmd_method() {
  return {
      .info = {.id = "mmd",
               .family = "mean embeddings",
               .summary = "maximum mean discrepancy, unbiased",
               .reports = "the unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
               .cost = "N^2 d",
               .permutation = "N^2",
               .calibrations = "permutation, sign-flip",
               .details =
                   "mean k(x,x') + mean k(y,y') - 2 mean k(x,y) over different rows. Defaults: Gaussian kernel with "
                   "the median bandwidth. Tiles of the Gram matrix are kept up to 256 MB (16 MB below 32 columns) "
                   "and made again beyond: memory does not grow with N^2. With one column and the Laplace (or "
                   "matern12) kernel one sort and one pass replace the Gram matrix: N log N, and N per permutation.",
               .reference = kGretton,
               .sign_flip = true,
               .uses = {.kernel = true}},
      .distance = mmd,
      .prepare = prepare<MmdEstimate::u>};
}

Method mmd_v_method() {
  return {.info = {.id = "mmd-v",
                   .family = "mean embeddings",
                   .summary = "maximum mean discrepancy between the samples themselves",
                   .reports = "the root MMD_V = sqrt(h'Kh), >= 0",
                   .cost = "N^2 d",
                   .permutation = "N^2",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "The distance between the mean embeddings of the two empirical distributions: 0 on equal "
                       "samples, biased upwards for small ones. With one column and the Laplace (or matern12) kernel "
                       "one sort and one pass replace the Gram matrix: N log N, and N per permutation.",
                   .reference = kGretton,
                   .sign_flip = true,
                   .uses = {.kernel = true}},
          .distance = mmd_v,
          .prepare = prepare<MmdEstimate::v_root>};
}

}  // namespace kqd
