#include "kernel/families.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/fail.hpp"
#include "core/vectors.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/kernel_maps.hpp"

// To add a kernel: an enumerator (and fields for new parameters) in kqd/kernel/kernel.hpp, and a row of kFamilies here.
// A formula that simd/kernel_maps.hpp does not have may be a plain loop over the values.
namespace kqd {
namespace {

using simd::apply_map;
using simd::Map;
using Point = std::span<const double>;

constexpr double kSmallestBandwidth = 1e-300;
constexpr double kSmallestSquaredBandwidth = 1e-150;  // of formulas with s^2

double bandwidth(const KernelSpec& k) {
  return k.bandwidth.value_or(1.0);
}

constexpr auto kPositive = [](double v) { return v > 0.0 && v <= std::numeric_limits<double>::max(); };
constexpr auto kNotNegative = [](double v) { return v >= 0.0 && v <= std::numeric_limits<double>::max(); };

constexpr FamilyParameter kDegree = {.name = "degree",
                                     .default_value = 3.0,
                                     .allows = [](double v) { return v >= 1.0 && v <= 64.0 && v == std::floor(v); },
                                     .range = "in 1..64, a whole number",
                                     .whole_field = &KernelSpec::degree};
constexpr FamilyParameter offset(double default_value) {
  return {.name = "offset",
          .default_value = default_value,
          .allows = kNotNegative,
          .range = ">= 0",
          .omits_default = default_value == 0.0,
          .field = &KernelSpec::offset};
}

constexpr std::array kRqParameters = {FamilyParameter{.name = "alpha",
                                                      .default_value = 1.0,
                                                      .allows = [](double v) { return v >= 1e-6 && v <= 1e6; },
                                                      .range = "in 1e-6 .. 1e6",
                                                      .field = &KernelSpec::alpha}};
constexpr std::array kImqParameters = {FamilyParameter{
    .name = "beta", .default_value = 0.5, .allows = kPositive, .range = "> 0", .field = &KernelSpec::beta}};
constexpr std::array kEnergyParameters = {FamilyParameter{.name = "beta",
                                                          .default_value = 1.0,
                                                          .allows = [](double v) { return v > 0.0 && v <= 2.0; },
                                                          .range = "in (0, 2]",
                                                          .field = &KernelSpec::beta}};
constexpr std::array kLinearParameters = {offset(0.0)};
constexpr std::array kPolynomialParameters = {kDegree, offset(1.0)};

// For kernels g(r^2): kSlope is 2 g'(r^2), which times x - z is the gradient.
template <auto kSlope>
void radial_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double slope = kSlope(k, squared_distance(x, z));
  for (std::size_t c = 0; c < x.size(); ++c) gradient[c] = slope * (x[c] - z[c]);
}

// For kernels g(x.z): kSlope is g'(x.z), which times z is the gradient.
template <auto kSlope>
void dot_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double slope = kSlope(k, x, z);
  for (std::size_t c = 0; c < x.size(); ++c) gradient[c] = slope * z[c];
}

// Spectral distributions that are mixtures of normal ones: kScale draws the standard deviation.
template <auto kScale>
void add_scaled_normal(const KernelSpec& k, std::span<double> frequency, RandomStream& stream) {
  const double scale = kScale(k, stream);
  for (double& w : frequency) w += scale * stream.normal();
}

// A multivariate t vector with `freedom` degrees of freedom is a normal one over sqrt(chi^2 / freedom).
template <int kFreedom>
double student_scale(const KernelSpec& k, RandomStream& stream) {
  double chi_squared = 0.0;
  for (int i = 0; i < kFreedom; ++i) {
    const double normal = stream.normal();
    chi_squared += normal * normal;
  }
  return std::sqrt(kFreedom / chi_squared) / bandwidth(k);
}

double gamma_variate(double shape, RandomStream& stream) {
  return boost::math::gamma_p_inv(shape, stream.uniform());
}

void laplace_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double s = bandwidth(k);
  double distance = 0.0;
  for (std::size_t c = 0; c < x.size(); ++c) distance += std::abs(x[c] - z[c]);
  const double slope = -std::exp(-distance / s) / s;
  for (std::size_t c = 0; c < x.size(); ++c) {
    gradient[c] = x[c] > z[c] ? slope : x[c] < z[c] ? -slope : 0.0;
  }
}

void mixed_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double per_distance = 0.5 / (bandwidth(k) * bandwidth(k));
  double distance = 0.0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double gap = (x[c] - z[c]) / k.column_scales[c];
    distance += k.column_scales[c] < 0.0 ? std::abs(gap) : gap * gap;
  }
  const double slope = -per_distance * std::exp(-per_distance * distance);
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double gap = x[c] - z[c];
    const double scale = std::abs(k.column_scales[c]);
    const double sign = gap > 0.0 ? 1.0 : gap < 0.0 ? -1.0 : 0.0;
    gradient[c] = slope * (k.column_scales[c] < 0.0 ? sign / scale : 2.0 * gap / (scale * scale));
  }
}

// Normal coordinates of columns that add a square, Cauchy ones of ordered columns: exp(-|x - z| / (2 s^2 c)).
void add_mixed_frequency(const KernelSpec& k, std::span<double> frequency, RandomStream& stream) {
  const double s = bandwidth(k);
  for (std::size_t c = 0; c < frequency.size(); ++c) {
    const double scale = std::abs(k.column_scales[c]);
    frequency[c] += k.column_scales[c] < 0.0
                        ? std::tan(std::numbers::pi * (stream.uniform() - 0.5)) / (2.0 * s * s * scale)
                        : stream.normal() / (s * scale);
  }
}

// |(x, sqrt c)|: a normalised polynomial is the cosine of two such vectors, to the power of its degree.
double extended_length(const KernelSpec& k, Point x) {
  const double length = std::sqrt(dot(x, x) + k.offset);
  if (!(length > 0.0)) {
    fail_option("kernel", to_string(k), "an offset > 0, because the data have a point of length 0");
  }
  return length;
}

void normalised_polynomial_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double x_squared = dot(x, x) + k.offset;
  const double length = std::sqrt(x_squared) * std::sqrt(dot(z, z) + k.offset);
  const double cosine = (dot(x, z) + k.offset) / length;
  const double slope = k.degree * std::pow(cosine, k.degree - 1);
  for (std::size_t c = 0; c < x.size(); ++c) gradient[c] = slope * (z[c] / length - cosine * x[c] / x_squared);
}

// |x - o|^beta of the kernel induced by a distance.
double distance_to_origin(const KernelSpec& k, Point x) {
  return std::pow(squared_distance(x, k.origin), k.beta / 2.0);
}

// beta |v|^(beta - 2): times v, the gradient of |v|^beta.
double distance_slope(double squared, double beta) {
  return squared > 0.0 ? beta * std::pow(squared, beta / 2.0 - 1.0) : 0.0;
}

void energy_gradient(const KernelSpec& k, Point x, Point z, std::span<double> gradient) {
  const double to_origin = distance_slope(squared_distance(x, k.origin), k.beta);
  const double to_z = distance_slope(squared_distance(x, z), k.beta);
  for (std::size_t c = 0; c < x.size(); ++c) {
    gradient[c] = 0.5 * (to_origin * (x[c] - k.origin[c]) - to_z * (x[c] - z[c]));
  }
}

// s is the bandwidth, r2 the squared Euclidean distance.
constexpr std::array<FamilyInfo, 12> kFamilies = {
    {
        {
            .family = KernelFamily::gaussian,
            .name = "gaussian",
            .median_rule = MedianRule::root_of_half_the_square,
            .smallest_bandwidth = kSmallestSquaredBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map =
                [](const KernelSpec& k, std::span<double> v) {
                  const double s = bandwidth(k);
                  apply_map(Map::exponential, 1.0 / (2.0 * s * s), 0.0, v);
                },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              return -std::exp(-r2 / (2.0 * s * s)) / (s * s);
            }>,
            .add_frequency = add_scaled_normal<[](const KernelSpec& k, RandomStream&) { return 1.0 / bandwidth(k); }>,
        },
        {
            .family = KernelFamily::laplace,
            .name = "laplace",
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestBandwidth,
            .quantity = PairQuantity::l1_distance,
            .map = [](const KernelSpec& k,
                      std::span<double> v) { apply_map(Map::exponential, 1.0 / bandwidth(k), 0.0, v); },
            .gradient = laplace_gradient,
            .add_frequency =
                [](const KernelSpec& k, std::span<double> frequency, RandomStream& stream) {
                  // independent Cauchy coordinates
                  for (double& w : frequency) w += std::tan(std::numbers::pi * (stream.uniform() - 0.5)) / bandwidth(k);
                },
        },
        {
            .family = KernelFamily::matern12,
            .name = "matern12",
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map = [](const KernelSpec& k,
                      std::span<double> v) { apply_map(Map::exponential_root, 1.0 / bandwidth(k), 0.0, v); },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              const double r = std::sqrt(r2);
              return 0.0 < r ? -std::exp(-r / s) / (s * r) : 0.0;
            }>,
            .add_frequency = add_scaled_normal<student_scale<1>>,
        },
        {
            .family = KernelFamily::matern32,
            .name = "matern32",
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map = [](const KernelSpec& k,
                      std::span<double> v) { apply_map(Map::matern32, std::sqrt(3.0) / bandwidth(k), 0.0, v); },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              return -3.0 / (s * s) * std::exp(-std::sqrt(3.0) * std::sqrt(r2) / s);
            }>,
            .add_frequency = add_scaled_normal<student_scale<3>>,
        },
        {
            .family = KernelFamily::matern52,
            .name = "matern52",
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map = [](const KernelSpec& k,
                      std::span<double> v) { apply_map(Map::matern52, std::sqrt(5.0) / bandwidth(k), 0.0, v); },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              const double a = std::sqrt(5.0) * std::sqrt(r2) / s;
              return -5.0 / (3.0 * s * s) * (1.0 + a) * std::exp(-a);
            }>,
            .add_frequency = add_scaled_normal<student_scale<5>>,
        },
        {
            .family = KernelFamily::rq,
            .name = "rq",
            .parameters = kRqParameters,
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestSquaredBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map =
                [](const KernelSpec& k, std::span<double> v) {
                  const double s = bandwidth(k);
                  apply_map(Map::inverse_power, 1.0 / (2.0 * k.alpha * s * s), k.alpha, v);
                },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              return -std::pow(1.0 + r2 / (2.0 * k.alpha * s * s), -k.alpha - 1.0) / (s * s);
            }>,
            .add_frequency = add_scaled_normal<[](const KernelSpec& k, RandomStream& stream) {
              return std::sqrt(gamma_variate(k.alpha, stream) / k.alpha) / bandwidth(k);
            }>,
        },
        {
            .family = KernelFamily::imq,
            .name = "imq",
            .parameters = kImqParameters,
            .median_rule = MedianRule::distance,
            .smallest_bandwidth = kSmallestSquaredBandwidth,
            .quantity = PairQuantity::squared_distance,
            .map =
                [](const KernelSpec& k, std::span<double> v) {
                  const double s = bandwidth(k);
                  apply_map(Map::inverse_power, 1.0 / (s * s), k.beta, v);
                },
            .gradient = radial_gradient<[](const KernelSpec& k, double r2) {
              const double s = bandwidth(k);
              return -2.0 * k.beta / (s * s) * std::pow(1.0 + r2 / (s * s), -k.beta - 1.0);
            }>,
            // the rq with alpha = beta and bandwidth s / sqrt(2 beta)
            .add_frequency = add_scaled_normal<[](const KernelSpec& k, RandomStream& stream) {
              return std::sqrt(2.0 * gamma_variate(k.beta, stream)) / bandwidth(k);
            }>,
        },
        {
            .family = KernelFamily::linear,
            .name = "linear",
            .parameters = kLinearParameters,
            .quantity = PairQuantity::dot,
            .map = [](const KernelSpec& k, std::span<double> v) { apply_map(Map::integer_power, k.offset, 1.0, v); },
            .diagonal = [](const KernelSpec& k, Point x) { return dot(x, x) + k.offset; },
            .gradient = dot_gradient<[](const KernelSpec&, Point, Point) { return 1.0; }>,
            .feature_degree = [](const KernelSpec&) { return 1; },
        },
        {
            .family = KernelFamily::polynomial,
            .name = "polynomial",
            .parameters = kPolynomialParameters,
            .quantity = PairQuantity::dot,
            .map = [](const KernelSpec& k,
                      std::span<double> v) { apply_map(Map::integer_power, k.offset, k.degree, v); },
            .diagonal = [](const KernelSpec& k, Point x) { return std::pow(dot(x, x) + k.offset, k.degree); },
            .gradient = dot_gradient<[](const KernelSpec& k, Point x, Point z) {
              return k.degree * std::pow(dot(x, z) + k.offset, k.degree - 1);
            }>,
            .feature_degree = [](const KernelSpec& k) { return k.degree; },
        },
        {
            .family = KernelFamily::normalised_polynomial,
            .name = "normalised-polynomial",
            .parameters = kPolynomialParameters,
            .quantity = PairQuantity::dot,
            .map = [](const KernelSpec& k, std::span<double> v) { apply_map(Map::integer_power, 0.0, k.degree, v); },
            .point_term = extended_length,
            // Normalised before the power is taken, which may overflow where the quotient of powers does not.
            .before_map =
                [](const KernelSpec& k, double x_length, std::span<const double> z_lengths, std::span<double> row) {
                  for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] + k.offset) / (x_length * z_lengths[j]);
                },
            .gradient = normalised_polynomial_gradient,
            .feature_degree = [](const KernelSpec& k) { return k.degree; },
        },
        {
            .family = KernelFamily::energy,
            .name = "energy",
            .parameters = kEnergyParameters,
            .has_origin = true,
            .quantity = PairQuantity::squared_distance,
            .map = [](const KernelSpec& k, std::span<double> v) { apply_map(Map::distance_power, 0.0, k.beta, v); },
            .point_term = distance_to_origin,
            .after_map =
                [](const KernelSpec&, double x_term, std::span<const double> z_terms, std::span<double> row) {
                  for (std::size_t j = 0; j < row.size(); ++j) row[j] = 0.5 * (x_term + z_terms[j] - row[j]);
                },
            .diagonal = distance_to_origin,
            .gradient = energy_gradient,
        },
        {
            .family = KernelFamily::mixed,
            .name = "mixed",
            .median_rule = MedianRule::root_of_half_the_square,
            .smallest_bandwidth = kSmallestSquaredBandwidth,
            .quantity = PairQuantity::mixed_distance,
            .map =
                [](const KernelSpec& k, std::span<double> v) {
                  const double s = bandwidth(k);
                  apply_map(Map::exponential, 0.5 / (s * s), 0.0, v);
                },
            .gradient = mixed_gradient,
            .add_frequency = add_mixed_frequency,
        },
    }};

// Null for sums, products and kernels of the caller.
const FamilyInfo* find_family(KernelFamily family) {
  const auto found = std::ranges::find(kFamilies, family, &FamilyInfo::family);
  return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace

std::span<const FamilyInfo> kernel_families() {
  return kFamilies;
}

const FamilyInfo& family_info(KernelFamily family) {
  const FamilyInfo* info = find_family(family);
  if (info == nullptr) fail(ErrorCode::internal, "a sum, product or custom kernel has no formula of its own");
  return *info;
}

bool has_bandwidth(KernelFamily family) {
  return smallest_bandwidth(family) > 0.0;
}

double smallest_bandwidth(KernelFamily family) {
  const FamilyInfo* info = find_family(family);
  return info == nullptr ? 0.0 : info->smallest_bandwidth;
}

bool has_origin(KernelFamily family) {
  const FamilyInfo* info = find_family(family);
  return info != nullptr && info->has_origin;
}

bool has_column_scales(KernelFamily family) {
  const FamilyInfo* info = find_family(family);
  return info != nullptr && info->quantity == PairQuantity::mixed_distance;
}

std::optional<std::size_t> feature_degree(const KernelSpec& kernel) {
  const FamilyInfo* info = find_family(kernel.family);
  if (info == nullptr || info->feature_degree == nullptr) return std::nullopt;
  return static_cast<std::size_t>(info->feature_degree(kernel));
}

}  // namespace kqd
