#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "kernel/resolve.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/covariance/covariance_plan.hpp"
#include "metrics/covariance/covariance_spectrum.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/stored_gram.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

enum class Form { centered, uncentered };
enum class OperatorNorm { hs, trace, operator_norm };

constexpr std::array<std::string_view, 2> kForms = {"centered", "uncentered"};
constexpr std::array<std::string_view, 3> kNorms = {"hs", "trace", "operator"};
constexpr std::array<ParameterInfo, 2> kParameters = {{
    {"form", 0, 0, 1, true, "covariances, or second moments: E[phi x phi]", kForms},
    {"norm", 0, 0, 2, true, "of the difference: Hilbert-Schmidt, or trace and operator norm, which take N^3", kNorms},
}};

struct Choice {
  Form form;
  OperatorNorm norm;
};

Choice choice_of(const MethodOptions& options) {
  const ParameterValues values("kce", kParameters, options.parameters);
  return {values.choice<Form>("form"), values.choice<OperatorNorm>("norm")};
}

CovarianceSpectrum spectrum_of(const Kernel& kernel, const DistinctRows& rows, const Choice& choice,
                               ThreadCount threads) {
  return {
      gram_matrix(kernel, rows.points, threads), choice.form == Form::centered,
      choice.norm == OperatorNorm::trace ? CovarianceSpectrum::Norm::trace : CovarianceSpectrum::Norm::operator_norm};
}

double require_feasible_spectrum(std::size_t num_points, std::size_t dim, std::size_t count, bool allowed) {
  require_storable_gram(num_points, dim, allowed, "the spectrum of covariances");
  const double seconds = CovarianceSpectrum::seconds(num_points, count);
  require_feasible_seconds(seconds, allowed,
                           fmt::format("the spectrum of covariances of {} rows, {} times", num_points, count));
  return seconds;
}

double hilbert_schmidt_squared(const KernelSpec& kernel, Form form, const SampleView& x, const SampleView& y,
                               ThreadCount threads) {
  if (form == Form::uncentered) return mmd_v_squared(Kernel(squared_kernel(kernel)), x, y, threads);
  const MeanProducts products = covariance_products(Kernel(kernel), x, y, threads);
  return std::max(0.0, (products.xx - products.xy) + (products.yy - products.xy));
}

double spectral_norm(const KernelSpec& kernel, const Choice& choice, const SampleView& x, const SampleView& y,
                     const MethodOptions& options) {
  const DistinctRows rows = distinct_rows({x.points, y.points});
  static_cast<void>(require_feasible_spectrum(rows.size(), x.dim(), 1, options.allow_quadratic));
  std::vector<double> p(rows.size(), 0.0);
  std::vector<double> q(rows.size(), 0.0);
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  for (std::size_t i = 0; i < a.size(); ++i) p[rows.of_position[i]] += a[i];
  for (std::size_t i = 0; i < b.size(); ++i) q[rows.of_position[a.size() + i]] += b[i];
  return spectrum_of(Kernel(kernel), rows, choice, options.threads).between(p, q);
}

DistanceResult kce_distance(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const Choice choice = choice_of(options);
  require_feasible(x.size() + y.size(), x.dim(), options.allow_quadratic, "the covariance distance");
  result.kernel = resolve_on_test_pool(x, y, options, result.warnings);
  if (choice.norm == OperatorNorm::hs) {
    result.statistic_power = hilbert_schmidt_squared(result.kernel, choice.form, x, y, options.threads);
    result.statistic = std::sqrt(result.statistic_power);
  } else {
    result.statistic = result.statistic_power = spectral_norm(result.kernel, choice, x, y, options);
  }
  return result;
}

void prepare_hilbert_schmidt(const TestPool& pool, const MethodOptions& options, Form form, PreparedPlan& prepared) {
  const KernelSpec& kernel = prepared.frozen.kernel;
  if (form == Form::uncentered) {
    auto plan = std::make_unique<MmdPlan>(Kernel(squared_kernel(kernel)), pool, pool.order, MmdEstimate::v_root,
                                          options.threads);
    prepared.pooled_scale = std::sqrt(plan->pooled_variance());
    prepared.plan = std::move(plan);
  } else {
    auto plan = std::make_unique<CovariancePlan>(Kernel(kernel), pool, pool.order, options.threads);
    prepared.pooled_scale = plan->pooled_scale();
    prepared.plan = std::move(plan);
  }
}

void prepare_spectrum(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                      const Choice& choice, PreparedPlan& prepared) {
  DistinctRows rows = distinct_rows(pool.rows());
  prepared.expected_seconds =
      require_feasible_spectrum(rows.size(), pool.x.dim(), request.permutation_count, options.allow_quadratic);
  CovarianceSpectrum spectrum = spectrum_of(Kernel(prepared.frozen.kernel), rows, choice, options.threads);
  std::vector<double> weights = pool.weights_of(pool.order);
  const double slack = 2.0 * spectrum.rounding();
  // The covariance of the pool itself, as the difference from a point mass of no spread.
  std::vector<std::size_t> all(pool.order.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<double> nothing(rows.size(), 0.0);
  prepared.pooled_scale = spectrum.between(weights_on_points(rows, all, weights), nothing);
  auto statistic = [rows = std::move(rows), spectrum = std::move(spectrum), weights = std::move(weights)](
                       std::span<const std::size_t> x, std::span<const std::size_t> y) {
    return spectrum.between(weights_on_points(rows, x, weights), weights_on_points(rows, y, weights));
  };
  prepared.plan =
      std::make_unique<DirectPlan>(pool.order.size(), std::move(statistic), [slack](double) { return slack; });
}

PreparedPlan prepare_kce(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const Choice choice = choice_of(options);
  require_feasible_test(pool.order.size(), pool.x.dim(), request.permutation_count, options.allow_quadratic,
                        "the covariance distance");
  PreparedPlan prepared = plan_on_all_rows(pool, options);
  if (choice.norm == OperatorNorm::hs) {
    prepare_hilbert_schmidt(pool, options, choice.form, prepared);
  } else {
    prepare_spectrum(pool, options, request, choice, prepared);
  }
  return prepared;
}

}  // namespace

Method kce_method() {
  return {.info = {.id = "kce",
                   .family = "other embeddings",
                   .summary = "distance between the covariance operators of the feature map",
                   .reports = "the norm |Sigma_P - Sigma_Q| itself (for hs the root of the sum of squares), >= 0",
                   .cost = "N^2 d; N^3 for norm trace and operator",
                   .permutation = "N^2; N^3 for norm trace and operator",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "Sigma_P = E[(phi - mu_P) x (phi - mu_P)]; it sees changes of spread and shape, not of the mean "
                       "embedding. form=uncentered compares E[phi x phi] and equals mmd-v with the kernel k^2. The "
                       "Hilbert-Schmidt norm needs no eigenvalues; tiles of the Gram matrix are made and forgotten. A "
                       "sample of one row has no covariance.",
                   .reference = "Makigusa: Two-sample test based on maximum variance discrepancy (2020/2024)",
                   .sign_flip = true,
                   .uses = {.kernel = true},
                   .parameters = kParameters},
          .distance = kce_distance,
          .prepare = prepare_kce};
}

}  // namespace kqd
