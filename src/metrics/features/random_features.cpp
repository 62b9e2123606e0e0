#include "metrics/features/random_features.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {
namespace {

void require_spectral_distribution(const KernelSpec& kernel) {
  for (const KernelSpec& part : kernel.parts) require_spectral_distribution(part);
  if (is_composite(kernel.family) || has_bandwidth(kernel.family)) return;
  KernelSpec only;
  only.family = kernel.family;
  only.name = kernel.name;
  const std::string name = to_string(only);
  fail(ErrorCode::invalid_option,
       "kernel {} has no random Fourier features: they exist for gaussian, laplace, matern12, matern32, matern52, rq, "
       "imq, their sums and products",
       name.substr(0, name.find(':')));
}

bool is_isotropic(KernelFamily family) {
  return has_bandwidth(family) && family != KernelFamily::laplace;
}

double value_at_zero(const KernelSpec& kernel) {
  if (kernel.family == KernelFamily::product) {
    double product = 1.0;
    for (const KernelSpec& part : kernel.parts) product *= value_at_zero(part);
    return product;
  }
  if (kernel.family == KernelFamily::sum) {
    double total = 0.0;
    for (const KernelSpec& part : kernel.parts) total += part.weight * value_at_zero(part);
    return total;
  }
  return 1.0;
}

// The scale that a normal vector of unit variance is multiplied by: 1/s, and for mixtures of Gaussians a random factor.
double draw_scale(const KernelSpec& kernel, RandomStream& stream) {
  const double s = kernel.bandwidth.value();
  // A multivariate t vector with `freedom` degrees of freedom is a normal one over sqrt(chi^2 / freedom).
  const auto student = [&](int freedom) {
    double chi_squared = 0.0;
    for (int i = 0; i < freedom; ++i) {
      const double normal = stream.normal();
      chi_squared += normal * normal;
    }
    return std::sqrt(freedom / chi_squared) / s;
  };
  const auto gamma = [&](double shape) { return boost::math::gamma_p_inv(shape, stream.uniform()); };
  switch (kernel.family) {
    case KernelFamily::matern12:
      return student(1);
    case KernelFamily::matern32:
      return student(3);
    case KernelFamily::matern52:
      return student(5);
    case KernelFamily::rq:
      return std::sqrt(gamma(kernel.alpha) / kernel.alpha) / s;
    case KernelFamily::imq:  // the rq with alpha = beta and bandwidth s / sqrt(2 beta)
      return std::sqrt(2.0 * gamma(kernel.beta)) / s;
    default:
      return 1.0 / s;
  }
}

// Adds a draw from the spectral distribution of `kernel` to `frequency`.
void add_frequency(const KernelSpec& kernel, std::span<double> frequency, RandomStream& stream) {
  switch (kernel.family) {
    case KernelFamily::product:  // products of characteristic functions belong to sums of independent variables
      for (const KernelSpec& part : kernel.parts) add_frequency(part, frequency, stream);
      return;
    case KernelFamily::sum: {  // a mixture, by the parts' shares of k(0, 0)
      double left = stream.uniform() * value_at_zero(kernel);
      const KernelSpec* chosen = nullptr;
      for (const KernelSpec& part : kernel.parts) {
        const double share = part.weight * value_at_zero(part);
        if (share <= 0.0) continue;
        chosen = &part;  // the last one with a share catches what rounding leaves over
        if (left < share) break;
        left -= share;
      }
      if (chosen != nullptr) add_frequency(*chosen, frequency, stream);
      return;
    }
    case KernelFamily::laplace:  // independent Cauchy coordinates
      for (double& w : frequency) w += std::tan(std::numbers::pi * (stream.uniform() - 0.5)) / kernel.bandwidth.value();
      return;
    default: {
      const double scale = draw_scale(kernel, stream);
      for (double& w : frequency) w += scale * stream.normal();
    }
  }
}

double length(std::span<const double> row) {
  double largest = 0.0;
  for (const double v : row) largest = std::max(largest, std::abs(v));
  if (largest == 0.0 || std::isinf(largest)) return largest;
  double squares = 0.0;
  for (const double v : row) squares += (v / largest) * (v / largest);
  return largest * std::sqrt(squares);
}

// Rows become orthogonal and keep their lengths. Directions of an isotropic distribution are independent of the lengths
// and uniform; the Gram-Schmidt basis of such directions is a uniformly distributed frame.
void orthogonalise(MatrixView<double> rows) {
  const auto count = static_cast<Eigen::Index>(rows.rows());
  Eigen::MatrixXd columns(static_cast<Eigen::Index>(rows.cols()), count);
  std::vector<double> lengths(rows.rows());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    lengths[i] = length(rows.row(i));
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      columns(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(i)) =
          lengths[i] > 0.0 ? rows(i, k) / lengths[i] : 0.0;
    }
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> factored(columns);
  const Eigen::MatrixXd basis = factored.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), count);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const double sign = factored.matrixQR()(column, column) < 0.0 ? -1.0 : 1.0;  // as Gram-Schmidt has it
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      rows(i, k) = sign * lengths[i] * basis(static_cast<Eigen::Index>(k), column);
    }
  }
}

}  // namespace

Frequencies draw_frequencies(const KernelSpec& kernel, std::size_t num_frequencies, std::size_t dim, bool orthogonal,
                             Seed seed) {
  require_spectral_distribution(kernel);
  if (orthogonal && !is_isotropic(kernel.family)) {
    fail(ErrorCode::invalid_option,
         "orthogonal = 1 needs a kernel of the Euclidean distance (gaussian, matern12, matern32, matern52, rq, imq), "
         "got {}",
         to_string(kernel));
  }
  Frequencies drawn{Matrix<double>(num_frequencies, dim, 0.0), value_at_zero(kernel)};
  for (std::size_t r = 0; r < num_frequencies; ++r) {
    RandomStream stream(seed, Purpose::frequencies, r);
    add_frequency(kernel, drawn.rows.row(r), stream);
  }
  if (orthogonal) {
    for (std::size_t first = 0; first < num_frequencies; first += dim) {
      orthogonalise(drawn.rows.view().row_range(first, std::min(dim, num_frequencies - first)));
    }
  }
  return drawn;
}

}  // namespace kqd
