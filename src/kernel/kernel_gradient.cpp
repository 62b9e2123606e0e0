#include "kernel/kernel_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/vectors.hpp"
#include "kernel/custom_kernel.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

// For kernels g(r^2): 2 g'(r^2), which times x - z is the gradient.
double radial_slope(const KernelSpec& spec, double squared) {
  const double s = spec.bandwidth.value_or(1.0);
  const double r = std::sqrt(squared);
  switch (spec.family) {
    case KernelFamily::gaussian:
      return -std::exp(-squared / (2.0 * s * s)) / (s * s);
    case KernelFamily::matern12:
      return r > 0.0 ? -std::exp(-r / s) / (s * r) : 0.0;
    case KernelFamily::matern32:
      return -3.0 / (s * s) * std::exp(-std::sqrt(3.0) * r / s);
    case KernelFamily::matern52: {
      const double a = std::sqrt(5.0) * r / s;
      return -5.0 / (3.0 * s * s) * (1.0 + a) * std::exp(-a);
    }
    case KernelFamily::rq:
      return -std::pow(1.0 + squared / (2.0 * spec.alpha * s * s), -spec.alpha - 1.0) / (s * s);
    default:  // imq
      return -2.0 * spec.beta / (s * s) * std::pow(1.0 + squared / (s * s), -spec.beta - 1.0);
  }
}

void laplace_gradient(const KernelSpec& spec, std::span<const double> x, std::span<const double> z,
                      std::span<double> gradient) {
  const double s = spec.bandwidth.value_or(1.0);
  double distance = 0.0;
  for (std::size_t c = 0; c < x.size(); ++c) distance += std::abs(x[c] - z[c]);
  const double slope = -std::exp(-distance / s) / s;
  for (std::size_t c = 0; c < x.size(); ++c) {
    gradient[c] = x[c] > z[c] ? slope : x[c] < z[c] ? -slope : 0.0;
  }
}

void normalised_polynomial_gradient(const KernelSpec& spec, std::span<const double> x, std::span<const double> z,
                                    std::span<double> gradient) {
  const double x_squared = dot(x, x) + spec.offset;
  const double length = std::sqrt(x_squared) * std::sqrt(dot(z, z) + spec.offset);
  const double cosine = (dot(x, z) + spec.offset) / length;
  const double slope = spec.degree * std::pow(cosine, spec.degree - 1);
  for (std::size_t c = 0; c < x.size(); ++c) gradient[c] = slope * (z[c] / length - cosine * x[c] / x_squared);
}

// beta |v|^(beta - 2): times v, the gradient of |v|^beta.
double distance_slope(double squared, double beta) {
  return squared > 0.0 ? beta * std::pow(squared, beta / 2.0 - 1.0) : 0.0;
}

void energy_gradient(const KernelSpec& spec, std::span<const double> x, std::span<const double> z,
                     std::span<double> gradient) {
  const double to_origin = distance_slope(squared_distance(x, spec.origin), spec.beta);
  const double to_z = distance_slope(squared_distance(x, z), spec.beta);
  for (std::size_t c = 0; c < x.size(); ++c) {
    gradient[c] = 0.5 * (to_origin * (x[c] - spec.origin[c]) - to_z * (x[c] - z[c]));
  }
}

void leaf_gradient(const KernelSpec& spec, std::span<const double> x, std::span<const double> z,
                   std::span<double> gradient) {
  const auto scaled = [&](double slope, auto at) {
    for (std::size_t c = 0; c < x.size(); ++c) gradient[c] = slope * at(c);
  };
  switch (spec.family) {
    case KernelFamily::laplace:
      return laplace_gradient(spec, x, z, gradient);
    case KernelFamily::linear:
      return scaled(1.0, [&](std::size_t c) { return z[c]; });
    case KernelFamily::polynomial:
      return scaled(spec.degree * std::pow(dot(x, z) + spec.offset, spec.degree - 1),
                    [&](std::size_t c) { return z[c]; });
    case KernelFamily::normalised_polynomial:
      return normalised_polynomial_gradient(spec, x, z, gradient);
    case KernelFamily::energy:
      return energy_gradient(spec, x, z, gradient);
    default:
      return scaled(radial_slope(spec, squared_distance(x, z)), [&](std::size_t c) { return x[c] - z[c]; });
  }
}

// Central differences, with the step that balances rounding and curvature.
void differenced_gradient(const KernelSpec& spec, std::span<const double> x, MatrixView<const double> z,
                          MatrixView<double> gradients) {
  const double relative = std::cbrt(std::numeric_limits<double>::epsilon());
  Matrix<double> points(2 * x.size(), x.size());
  for (std::size_t i = 0; i < points.rows(); ++i) std::ranges::copy(x, points.row(i).begin());
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double step = relative * std::max(1.0, std::abs(x[c]));
    points(2 * c, c) += step;
    points(2 * c + 1, c) -= step;
  }
  Matrix<double> values(points.rows(), z.rows());
  custom_values(spec, points, z, values);
  for (std::size_t c = 0; c < x.size(); ++c) {
    const double width = points(2 * c, c) - points(2 * c + 1, c);
    for (std::size_t j = 0; j < z.rows(); ++j) gradients(j, c) = (values(2 * c, j) - values(2 * c + 1, j)) / width;
  }
}

std::vector<double> values_at(const KernelSpec& spec, std::span<const double> x, MatrixView<const double> z) {
  std::vector<double> values(z.rows());
  Kernel(spec).evaluate({x.data(), 1, x.size()}, z, {values.data(), 1, values.size()});
  return values;
}

void gradient_of(const KernelSpec& spec, std::span<const double> x, MatrixView<const double> z,
                 MatrixView<double> gradients) {
  if (spec.family == KernelFamily::custom) return differenced_gradient(spec, x, z, gradients);
  if (!is_composite(spec.family)) {
    for (std::size_t j = 0; j < z.rows(); ++j) leaf_gradient(spec, x, z.row(j), gradients.row(j));
    return;
  }
  for (std::size_t j = 0; j < z.rows(); ++j) std::ranges::fill(gradients.row(j), 0.0);
  Matrix<double> own(z.rows(), x.size());
  for (std::size_t p = 0; p < spec.parts.size(); ++p) {
    gradient_of(spec.parts[p], x, z, own);
    // A part of a sum counts by its weight, a part of a product by the values of the others.
    std::vector<double> factors(z.rows(), spec.family == KernelFamily::sum ? spec.parts[p].weight : 1.0);
    for (std::size_t q = 0; spec.family == KernelFamily::product && q < spec.parts.size(); ++q) {
      if (q == p) continue;
      const std::vector<double> others = values_at(spec.parts[q], x, z);
      for (std::size_t j = 0; j < z.rows(); ++j) factors[j] *= others[j];
    }
    for (std::size_t j = 0; j < z.rows(); ++j) {
      for (std::size_t c = 0; c < x.size(); ++c) gradients(j, c) += factors[j] * own(j, c);
    }
  }
}

}  // namespace

void kernel_gradient(const Kernel& kernel, std::span<const double> x, MatrixView<const double> z,
                     MatrixView<double> gradients) {
  require_origin(kernel.spec(), x.size());
  gradient_of(kernel.spec(), x, z, gradients);
}

}  // namespace kqd
