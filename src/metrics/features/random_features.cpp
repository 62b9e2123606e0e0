#include "metrics/features/random_features.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "kernel/families.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {
namespace {

bool is_isotropic(const FamilyInfo& family) {
  return family.add_frequency != nullptr && family.quantity == PairQuantity::squared_distance;
}

// The names of families with a spectral distribution: all of them, or those without preferred axes.
std::string spectral_families(bool isotropic_only) {
  std::vector<std::string_view> names;
  for (const FamilyInfo& family : kernel_families()) {
    if (family.add_frequency != nullptr && (is_isotropic(family) || !isotropic_only)) names.push_back(family.name);
  }
  return join(names);
}

void require_spectral_distribution(const KernelSpec& kernel) {
  for_each_leaf(kernel, [&](const KernelSpec& leaf) {
    if (leaf.family != KernelFamily::custom && family_info(leaf.family).add_frequency != nullptr) return;
    const std::string name = to_string(kernel);
    fail_option("kernel", leaf.family == KernelFamily::custom ? fmt::format("{} (a function)", name) : name,
                fmt::format("one with random Fourier features: {}, their sums and products", spectral_families(false)));
  });
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
        chosen = &part;  // the last one with a share, in case of rounding
        if (left < share) break;
        left -= share;
      }
      if (chosen != nullptr) add_frequency(*chosen, frequency, stream);
      return;
    }
    default:
      return family_info(kernel.family).add_frequency(kernel, frequency, stream);
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
    const double sign = factored.matrixQR()(column, column) < 0.0 ? -1.0 : 1.0;  // the sign of Gram-Schmidt
    for (std::size_t k = 0; k < rows.cols(); ++k) {
      rows(i, k) = sign * lengths[i] * basis(static_cast<Eigen::Index>(k), column);
    }
  }
}

}  // namespace

Frequencies draw_frequencies(const KernelSpec& kernel, std::size_t num_frequencies, std::size_t dim, bool orthogonal,
                             Seed seed) {
  require_spectral_distribution(kernel);
  if (orthogonal && (is_composite(kernel.family) || !is_isotropic(family_info(kernel.family)))) {
    fail_option("kernel", to_string(kernel),
                fmt::format("one of {} for orthogonal = 1, which needs a function of the Euclidean distance",
                            spectral_families(true)));
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
