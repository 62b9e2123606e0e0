#pragma once
#include <span>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// <mu_P, mu_Q> = sum_ij a_i b_j k(x_i, y_j), with weights as given (not normalised here). Tiles of the Gram matrix are
/// not stored: O(tile) memory at any size. Same bits for any thread count.
[[nodiscard]] double mean_inner_product(const Kernel& kernel, MatrixView<const double> x, std::span<const double> a,
                                        MatrixView<const double> y, std::span<const double> b, ThreadCount threads);

/// <mu_P, mu_P>, <mu_Q, mu_Q> and <mu_P, mu_Q> with weights normalised to sum 1.
struct MeanProducts {
  double xx = 0.0;
  double yy = 0.0;
  double xy = 0.0;
};
[[nodiscard]] MeanProducts mean_products(const Kernel& kernel, const SampleView& x, const SampleView& y,
                                         ThreadCount threads);

/// <Sigma_P, Sigma_P>, <Sigma_Q, Sigma_Q> and <Sigma_P, Sigma_Q> of the covariance operators of the feature map, as
/// Hilbert-Schmidt inner products: sum_ij a_i b_j <phi(x_i) - mu_P, phi(y_j) - mu_Q>^2. For equal samples
/// all three agree to the last bit.
[[nodiscard]] MeanProducts covariance_products(const Kernel& kernel, const SampleView& x, const SampleView& y,
                                               ThreadCount threads);

/// MMD_V^2 = h' K h >= 0, h = +a on X and -b on Y with both normalised to sum 1. Throws
/// Error{non_finite_value} when it overflows.
[[nodiscard]] double mmd_v_squared(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads);

}  // namespace kqd
