#include "metrics/all_methods.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/resolve.hpp"
#include "metrics/features/feature_method.hpp"
#include "metrics/features/mean_gap.hpp"
#include "metrics/features/random_features.hpp"
#include "metrics/numerics.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::string_view kId = "mmd-rff";

enum class Form { v, u };
constexpr std::array<std::string_view, 2> kForms = {"v", "u"};

constexpr std::array<ParameterInfo, 3> kParameters = {{
    {"features", 256, 1, 1e6, true, "frequencies R; a row has a cosine and a sine of each"},
    {"form", 0, 0, 1, true, "v: the root MMD_V, >= 0; u: the unbiased estimate of MMD^2, signed", kForms},
    {"orthogonal", 0, 0, 1, true, "1 makes frequencies orthogonal, d at a time: less Monte Carlo error"},
}};

// phi(x) = (k(0)/R)^{1/2} (cos w_r.(x - o), sin w_r.(x - o)): moving the origin o rotates each pair by an angle that
// all rows share, which does not change any statistic of the gap; with o near the data the angles round less.
FeatureMap fourier_features(const Frequencies& frequencies, std::vector<double> origin) {
  const std::size_t count = frequencies.rows.rows();
  const double amplitude = std::sqrt(frequencies.at_zero / static_cast<double>(count));
  const auto evaluate = [rows = simd::PackedFactor<double>(frequencies.rows, simd::Op::transpose),
                         origin = std::move(origin),
                         amplitude](MatrixView<const double> x, MatrixView<double> features) {
    const std::size_t r = rows.cols();
    Matrix<double> moved(x);
    for (std::size_t i = 0; i < moved.rows(); ++i) {
      for (std::size_t k = 0; k < moved.cols(); ++k) moved(i, k) -= origin[k];
    }
    Matrix<double> angles(x.rows(), r);
    simd::multiply(moved, simd::Op::none, rows, angles);
    for (std::size_t i = 0; i < x.rows(); ++i) {
      for (std::size_t k = 0; k < r; ++k) {
        require_finite(angles(i, k), "an angle of the random Fourier features");
        features(i, k) = amplitude * std::cos(angles(i, k));
        features(i, r + k) = amplitude * std::sin(angles(i, k));
      }
    }
  };
  return {2 * count, evaluate};
}

FeatureSetup set_up(const TestPool& pool, const MethodOptions& options, const PlanRequest& /*request*/) {
  const ParameterValues values(kId, kParameters, options.parameters);
  const bool unbiased = values.choice<Form>("form") == Form::u;
  if (unbiased) require_two_rows(pool, "form = u");
  FeatureSetup setup;
  setup.frozen = options;
  setup.frozen.kernel = resolve_kernel(options, pool.rows(), setup.warnings);
  setup.map = fourier_features(draw_frequencies(setup.frozen.kernel, values.count("features"), pool.x.dim(),
                                                values.count("orthogonal") == 1, options.seed),
                               pooled_mean(pool.rows()));
  setup.statistic = std::make_unique<MeanGap>(unbiased ? MeanGapForm::unbiased : MeanGapForm::root);
  setup.rows = pool.order;
  return setup;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_by_features(pool, options, request, set_up);
}

DistanceResult distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return distance_by_features(x, y, options, set_up).result;
}

}  // namespace

Method mmd_rff_method() {
  return {.info = {.id = kId,
                   .family = "mean embeddings",
                   .summary = "maximum mean discrepancy by random Fourier features, in linear time",
                   .reports = "form v: the root MMD_V, >= 0, as mmd-v; form u: the signed estimate of MMD^2, as mmd",
                   .cost = "N R d",
                   .permutation = "N R",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "The distance between mean features (cos w_r.x, sin w_r.x)/sqrt(R), with R frequencies from the "
                       "spectral distribution of the kernel. MMD_V^2 of the kernel up to a Monte Carlo error of order "
                       "1/sqrt(R); the test is exact for any R. Kernels: gaussian, laplace, matern12, matern32, "
                       "matern52, rq, imq, their sums and products. Memory grows with N R.",
                   .reference =
                       "Rahimi, Recht: Random Features for Large-Scale Kernel Machines (NeurIPS 2007); permutation "
                       "test: Choi, Kim: Computational-Statistical Trade-off in Kernel Two-Sample Testing with Random "
                       "Fourier Features (2024)",
                   .sign_flip = true,
                   .groups = true,
                   .uses = {.kernel = true},
                   .parameters = kParameters},
          .distance = distance,
          .prepare = prepare};
}

}  // namespace kqd
