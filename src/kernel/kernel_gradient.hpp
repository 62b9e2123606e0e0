#pragma once
#include <span>

#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// gradients(j, c) = d k(x, z_j) / d x_c, by the formula of the kernel; 0 where a kernel has a kink (matern12, laplace
/// and energy where x meets z). Kernels of the caller's own are differenced. On the calling thread, O(rows of z * dim).
void kernel_gradient(const Kernel& kernel, std::span<const double> x, MatrixView<const double> z,
                     MatrixView<double> gradients);

}  // namespace kqd
