#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// values(i, j) = k(x_i, z_j) of a custom kernel. Throws Error{non_finite_value}, and what the caller's function
/// throws.
void custom_values(const KernelSpec& kernel, MatrixView<const double> x, MatrixView<const double> z,
                   MatrixView<double> values);

/// values[i] = k(x_i, z_i), from small blocks, because a function of the caller takes blocks only.
void custom_pairs(const KernelSpec& kernel, MatrixView<const double> x, MatrixView<const double> z,
                  std::span<double> values);

/// Tries a custom kernel on a few rows of the pool. Throws Error{invalid_option} when k(x, y) differs from k(y, x) by
/// more than single precision explains, when k(x, x) is negative, or when k(x, y)^2 > k(x, x) k(y, y); warns of values
/// whose squares underflow.
void require_kernel(const KernelSpec& kernel, const Pool& pool, Seed seed, Warnings& warnings);

}  // namespace kqd
