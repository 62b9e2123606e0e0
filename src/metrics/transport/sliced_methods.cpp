#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/fail.hpp"
#include "core/pool.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/supremum.hpp"

namespace kqd {
namespace {

// The sliced Wasserstein distance is the e-KQD of the linear kernel along uniform directions. Directions
// that are passed, as reference points with coefficients, are used unchanged: a test passes its own in this way.
MethodOptions as_kqd(const MethodOptions& options) {
  if (options.directions.family == DirectionFamily::axis) {
    fail(ErrorCode::invalid_option,
         "directions axis are not uniform on the sphere, as sw is; use method ekqd for them");
  }
  MethodOptions kqd = options;
  kqd.kernel = parse_kernel("linear");
  kqd.parameters = {};
  if (options.directions.reference == ReferenceMeasure::points) return kqd;
  kqd.directions = {.family = DirectionFamily::linear, .num_directions = options.directions.num_directions};
  return kqd;
}

DistanceResult sw(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return ekqd(x, y, as_kqd(options));
}

SharedSlices sw_slices(const Pool& pool, const MethodOptions& options) {
  return draw_slices(pool, as_kqd(options), Over::mean);
}

PreparedPlan prepare_sw(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_kqd(pool, as_kqd(options), request, Over::mean, false);
}

constexpr std::array<ParameterInfo, 3> kMaxParameters = {{kShareParameter, kStepsParameter, kStartsParameter}};

// Rows are measured from the mean of the pool: gaps between quantiles do not depend on the origin, and values near 0
// round less.
SliceModel make_max_sw(const Matrix<double>& points, const std::vector<std::size_t>& blocks,
                       const MethodOptions& /*options*/, const ParameterValues& /*parameters*/,
                       SupremumMethod::Purpose /*purpose*/) {
  const std::vector<double> mean = pooled_mean({points, {}});
  Matrix<double> centred = points;
  for (std::size_t i = 0; i < centred.rows(); ++i) {
    for (std::size_t k = 0; k < centred.cols(); ++k) centred(i, k) -= mean[k];
  }
  SliceModel model;
  model.kernel = parse_kernel("linear");
  model.unit = bring_near_one(centred);
  model.slices = std::make_unique<StoredSlices>(std::move(centred), blocks);
  model.direction = [](std::span<const double> w) {
    Matrix<double> weights(1, w.size());
    std::ranges::copy(w, weights.data());
    return std::make_shared<LinearDirections>(std::move(weights));
  };
  return model;
}

constexpr SupremumMethod kMaxSw = {.id = "max-sw", .parameters = kMaxParameters, .make = make_max_sw};

DistanceResult max_sw(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return supremum_distance(kMaxSw, x, y, options);
}

PreparedPlan prepare_max_sw(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_supremum(kMaxSw, pool, options, request);
}

}  // namespace

Method sw_method() {
  return {
      .info = {.id = "sw",
               .family = "transport",
               .summary = "sliced Wasserstein distance: mean over uniform directions of R^d",
               .reports = "the root (mean_i W_p^p along u_i)^(1/p), >= 0",
               .cost = "l N d + l N log N",
               .permutation = "l N",
               .calibrations = "permutation, sign-flip",
               .details = "SW_p = (1/l sum_i W_p^p(u_i.X, u_i.Y))^(1/p) with u_i uniform on the sphere: ekqd "
                          "with the linear kernel and linear directions, by the same code. With "
                          "reference points of the caller, directions are random combinations "
                          "of them.  Defaults: l = 64, "
                          "p = 1, uniform levels.",
               .reference = "Bonneel, Rabin, Peyre, Pfister: Sliced and Radon Wasserstein Barycenters (JMIV 2015)",
               .sign_flip = true,
               .groups = true,
               .directions = "linear",
               .uses = {.num_directions = true, .points = true, .power = true, .weighting = true, .max_memory = true}},
      .distance = sw,
      .slices = sw_slices,
      .prepare = prepare_sw};
}

Method max_sw_method() {
  return {
      .info = {.id = kMaxSw.id,
               .family = "transport",
               .summary = "max-sliced Wasserstein distance: largest over all directions of R^d, by ascent",
               .reports = "the root max_u W_p(u.X, u.Y), >= 0; a local maximum, so a lower bound",
               .cost = "starts steps (N d + N log N)",
               .permutation = "N (split), or the whole again (share = 0)",
               .calibrations = "permutation, sign-flip",
               .details =
                   "The supremum over the unit sphere by L-BFGS on the sphere, the best "
                   "point kept; starts: the difference of the means, the directions in which the covariances differ "
                   "most, the best of 32 random ones, and 4 random ones (up to 96 more for small samples). A test "
                   "fits the direction to half of the "
                   "rows and tests the others along it (parameter share, 0.5); share=0 fits again for every "
                   "permutation: exact too, uses all rows, and costs as many fits. Equals supkqd-opt with the "
                   "linear kernel.",
               .reference = "Deshpande et al.: Max-Sliced Wasserstein Distance and its use for GANs (CVPR 2019)",
               .supremum = true,
               .sign_flip = true,
               .directions = "optimised",
               .uses = {.power = true, .weighting = true},
               .parameters = kMaxParameters},
      .distance = max_sw,
      .prepare = prepare_max_sw};
}

}  // namespace kqd
