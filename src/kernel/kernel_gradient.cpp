#include "kernel/kernel_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernel/custom_kernel.hpp"
#include "kernel/families.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

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
    const auto gradient = family_info(spec.family).gradient;
    for (std::size_t j = 0; j < z.rows(); ++j) gradient(spec, x, z.row(j), gradients.row(j));
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
