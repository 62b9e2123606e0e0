#include "metrics/all_methods.hpp"
#include "metrics/checked_samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "directions/reference.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/supremum.hpp"
#include "metrics/transport/generalised_slices.hpp"

namespace kqd {
namespace {

enum class Family { polynomial, circular };
constexpr std::array<std::string_view, 2> kFamilies = {"polynomial", "circular"};

constexpr ParameterInfo kFamily = {
    "family", 0, 0, 1, true, "of slices: homogeneous polynomials, or distances to the points of a sphere", kFamilies};
constexpr ParameterInfo kDegree = {"degree", 3, 1, 63, true, "of the polynomials: odd"};
constexpr ParameterInfo kRadius = {"radius", 2.0,   1e-100,
                                   1e100,    false, "of the sphere for circular slices, in the unit of the data"};

constexpr std::array<ParameterInfo, 3> kParameters = {kFamily, kDegree, kRadius};
constexpr std::array<ParameterInfo, 6> kMaxParameters = {kFamily,         kDegree,         kRadius,
                                                         kShareParameter, kStepsParameter, kStartsParameter};

constexpr std::size_t kMaxStoredBytes = std::size_t{256} << 20U;

// An even degree does not distinguish x from -x, so the distance of different distributions may be 0.
PolynomialMap polynomial_map(std::size_t dim, const ParameterValues& parameters) {
  const std::size_t degree = parameters.count("degree");
  if (degree % 2 == 0) {
    fail(ErrorCode::invalid_option,
         "degree = {} is even, so x and -x look the same and the distance is not a metric; use {} or {}", degree,
         degree - 1, degree + 1);
  }
  return {dim, degree};
}

// The directions depend on the seed and the number of columns only, not on the rows.
std::shared_ptr<const Directions> generalised_slices(std::size_t dim, const MethodOptions& options,
                                                     const ParameterValues& parameters) {
  const std::size_t count = options.directions.num_directions.value_or(kFewestDirections);
  DirectionOptions checked;
  checked.family = DirectionFamily::linear;
  checked.num_directions = count;
  validate(checked, dim);
  if (parameters.choice<Family>("family") == Family::circular) {
    return std::make_shared<CircularDirections>(parameters.value("radius"),
                                                draw_uniform_directions(count, dim, options.seed));
  }
  PolynomialMap map = polynomial_map(dim, parameters);
  LinearDirections theta = draw_uniform_directions(count, map.num_monomials(), options.seed);
  return std::make_shared<PolynomialDirections>(std::move(map), std::move(theta));
}

DistanceResult gsw(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  const ParameterValues parameters("gsw", kParameters, options.parameters);
  const auto slices = generalised_slices(x.dim(), options, parameters);
  result.directions = slices;
  measure_along(result, *slices, samples.x, samples.y, options, Over::mean);
  return result;
}

SharedSlices gsw_slices(const Pool& pool, const MethodOptions& options) {
  const ParameterValues parameters("gsw", kParameters, options.parameters);
  SharedSlices slices;
  slices.drawn.directions = generalised_slices(pool.dim(), options, parameters);
  return slices;
}

PreparedPlan prepare_gsw(const TestPool& pool, const MethodOptions& options, const PlanRequest& /*request*/) {
  const ParameterValues parameters("gsw", kParameters, options.parameters);
  const auto slices = generalised_slices(pool.x.dim(), options, parameters);
  return prepare_along(slices, pool, pool.order, options, Over::mean, true);
}

// One direction of R^K or R^d.
LinearDirections single(std::span<const double> w) {
  Matrix<double> weights(1, w.size());
  std::ranges::copy(w, weights.data());
  return LinearDirections(std::move(weights));
}

// All coordinates are divided by the same power of two, which brings them near 1: no digit of a monomial changes, and
// squares of gradients do not overflow. Values are multiplied back, so the result is that of the definition.
SliceModel make_max_gsw(const Matrix<double>& points, const std::vector<std::size_t>& blocks,
                        const MethodOptions& /*options*/, const ParameterValues& parameters,
                        SupremumMethod::Purpose /*purpose*/) {
  SliceModel model;
  model.kernel = parse_kernel("linear");
  Matrix<double> near_one = points;
  const double unit = bring_near_one(near_one);
  if (parameters.choice<Family>("family") == Family::circular) {
    const double radius = parameters.value("radius");
    model.unit = unit;
    model.slices = std::make_unique<CircularSlices>(radius / unit, std::move(near_one), blocks);
    model.direction = [radius](std::span<const double> w) {
      return std::make_shared<CircularDirections>(radius, single(w));
    };
    return model;
  }
  PolynomialMap map = polynomial_map(points.cols(), parameters);
  model.direction = [map](std::span<const double> w) { return std::make_shared<PolynomialDirections>(map, single(w)); };
  model.details = {{"monomials", static_cast<double>(map.num_monomials())}};
  model.unit = std::pow(unit, static_cast<double>(map.degree()));
  if (points.rows() * map.num_monomials() * sizeof(double) > kMaxStoredBytes) {
    model.slices = std::make_unique<PolynomialSlices>(std::move(map), std::move(near_one), blocks);
    return model;
  }
  Matrix<double> monomials(points.rows(), map.num_monomials());
  map.evaluate(near_one, monomials);
  model.slices = std::make_unique<StoredSlices>(std::move(monomials), blocks);
  return model;
}

constexpr SupremumMethod kMaxGsw = {.id = "max-gsw", .parameters = kMaxParameters, .make = make_max_gsw};

DistanceResult max_gsw(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return supremum_distance(kMaxGsw, x, y, options);
}

PreparedPlan prepare_max_gsw(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  return prepare_supremum(kMaxGsw, pool, options, request);
}

constexpr std::string_view kKolouri = "Kolouri et al.: Generalized Sliced Wasserstein Distances (NeurIPS 2019)";

}  // namespace

Method gsw_method() {
  return {.info = {.id = "gsw",
                   .family = "transport",
                   .summary = "generalised sliced Wasserstein distance: slices by polynomials or circles",
                   .reports = "the root (mean_i W_p^p along g_i)^(1/p), >= 0",
                   .cost = "l N K + l N log N, K = C(d+q-1, q)",
                   .permutation = "l N",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "Slices g(x) = sum theta_alpha x^alpha over all monomials of degree q exactly, theta uniform on "
                       "the sphere of R^K (parameters family=polynomial, degree=3; odd degrees only, degree 1 is sw; K "
                       "at most 20000), or g(x) = |x - r theta| (parameters family=circular, radius=2). Monomials are "
                       "plain, without multinomial weights, and coordinates are not rescaled: columns of larger unit "
                       "count more. Values are means over levels and slices, not the sums of the authors' code. Memory "
                       "does not grow with K N.",
                   .reference = kKolouri,
                   .sign_flip = true,
                   .directions = "generalised",
                   .uses = {.num_directions = true, .power = true, .weighting = true},
                   .parameters = kParameters},
          .distance = gsw,
          .slices = gsw_slices,
          .prepare = prepare_gsw};
}

Method max_gsw_method() {
  return {.info = {.id = kMaxGsw.id,
                   .family = "transport",
                   .summary = "largest generalised slice, by ascent",
                   .reports = "the root max_theta W_p along g_theta, >= 0; a local maximum, so a lower bound",
                   .cost = "starts steps (N K + N log N), K = C(d+q-1, q)",
                   .permutation = "N (split), or the whole again (share = 0)",
                   .calibrations = "permutation, sign-flip",
                   .details =
                       "The supremum of gsw over theta on the unit sphere, by the ascent and with the tests of max-sw, "
                       "which it is for degree 1. The same slices and bounds as gsw.",
                   .reference = kKolouri,
                   .supremum = true,
                   .sign_flip = true,
                   .directions = "optimised",
                   .uses = {.power = true, .weighting = true},
                   .parameters = kMaxParameters},
          .distance = max_gsw,
          .prepare = prepare_max_gsw};
}

}  // namespace kqd
