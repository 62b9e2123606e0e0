#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/fail.hpp"
#include "core/pool.hpp"
#include "kernel/resolve.hpp"
#include "metrics/quantile/partial_cholesky.hpp"
#include "metrics/quantile/supremum.hpp"

namespace kqd {
namespace {

constexpr std::size_t kDefaultRank = 512;

// The residual of k(x, x) that counts as 0. A direction for other points has coefficients that grow as its
// inverse root: 1e-8 keeps twelve of their sixteen digits (and ||f||^2 well above rounding), 1e-12 serves values of the
// points themselves.
constexpr double kValueTolerance = 1e-12;
constexpr double kDirectionTolerance = 1e-8;

constexpr std::array<ParameterInfo, 5> kParameters = {{
    kShareParameter,
    {"centered", 0, 0, 1, true, "1: the gaps of centered embeddings; a test needs share = 0"},
    {"rank", 0, 0, 20000, true, "of the features that stand for the kernel; 0: as many as rows, at most 512"},
    kStepsParameter,
    kStartsParameter,
}};

// Columns of the factor are in descending order of what they add. The leading ones, each of which adds more than
// `tolerance` of the first, are those that a factorisation with that tolerance finds.
void keep_leading(PartialCholesky& factor, double tolerance) {
  const auto added = [&](std::size_t j) {
    const double root = factor.features(factor.pivots[j], j);
    return root * root;
  };
  std::size_t count = 0;
  while (count < factor.pivots.size() && added(count) > tolerance * added(0)) ++count;
  factor.pivots.resize(count);
}

SliceModel make(const Matrix<double>& points, const std::vector<std::size_t>& blocks, const MethodOptions& options,
                const ParameterValues& parameters, SupremumMethod::Purpose purpose) {
  SliceModel model;
  model.kernel = resolve_kernel(options, Pool{points, {}}, model.warnings);
  const std::size_t rank = parameters.count("rank") == 0 ? kDefaultRank : parameters.count("rank");
  const bool for_value = purpose == SupremumMethod::Purpose::value;
  const Kernel kernel(model.kernel);
  PartialCholesky factor = partial_cholesky(kernel, points, blocks, rank,
                                            for_value ? kValueTolerance : kDirectionTolerance, options.threads);
  const std::size_t found_rank = factor.pivots.size();
  Matrix<double> features = found_rank > 0 ? factor.features : Matrix<double>(points.rows(), 1, 0.0);
  model.unit = bring_near_one(features);
  model.slices = std::make_unique<StoredSlices>(std::move(features), blocks);
  model.details = {{"rank", static_cast<double>(found_rank)}, {"residual", factor.residual}};
  keep_leading(factor, kDirectionTolerance);
  Matrix<double> landmarks = gather(Pool{points, {}}, factor.pivots);
  model.direction = [kernel, factor = std::move(factor), landmarks](std::span<const double> w) {
    if (factor.pivots.empty()) {
      fail(ErrorCode::degenerate_directions, "kernel {} is 0 on all training rows, so there is no direction to fit",
           to_string(kernel.spec()));
    }
    const std::vector<double> c = factor.coefficients(w.first(factor.pivots.size()));
    Matrix<double> coefficients(c.size(), 1);
    std::ranges::copy(c, coefficients.data());
    return std::make_shared<KernelDirections>(kernel, landmarks, std::move(coefficients));
  };
  return model;
}

constexpr SupremumMethod kMethod = {
    .id = "supkqd-opt",
    .parameters = kParameters,
    .centered = [](const ParameterValues& parameters) { return parameters.count("centered") == 1; },
    .make = make};

DistanceResult supkqd_opt(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return supremum_distance(kMethod, x, y, options);
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_supremum(kMethod, pool, options, request);
}

}  // namespace

Method supkqd_opt_method() {
  return {
      .info = {.id = kMethod.id,
               .family = "kernel quantiles",
               .summary = "largest gap of quantiles over all directions, by ascent (max-KSW)",
               .reports = "the root sup_u tau_p(u), >= MMD_V for uniform levels; a local maximum, so a lower bound",
               .cost = "N r^2 + starts steps (N r + N log N)",
               .permutation = "N (split), or the whole again (share = 0)",
               .calibrations = "permutation, sign-flip",
               .details =
                   "sup-KQD_p over the whole unit sphere of the kernel's space: the kernel max-sliced Wasserstein "
                   "distance. Features are a pivoted Cholesky factor of the Gram matrix, exact up to 512 rows and "
                   "of rank 512 above (parameter rank). Ascent by L-BFGS on the sphere; starts: the "
                   "witness of the MMD, the directions in which the covariances differ most, the best of 32 random "
                   "ones, and 4 random ones (up to 96 more for small samples). A test fits the direction to half of "
                   "the rows and tests the others "
                   "along it (parameter share, 0.5); share=0 fits again for every permutation: exact too, uses all "
                   "rows, and costs as many fits.",
               .reference = "Wang, Gao, Xie: Two-Sample Test with Kernel Projected Wasserstein Distance (AISTATS 2022)",
               .supremum = true,
               .sign_flip = true,
               .directions = "optimised",
               .uses = {.kernel = true, .power = true, .weighting = true},
               .parameters = kParameters},
      .distance = supkqd_opt,
      .prepare = prepare};
}

}  // namespace kqd
