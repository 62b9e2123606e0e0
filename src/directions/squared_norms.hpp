#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// ||f_i||^2 = c_i' K_zz c_i of f_i = sum_j c_ji k(z_j, .), and sum_j c_ji^2 k(z_j, z_j) to compare it with.
struct SquaredNorms {
  std::vector<double> norms;
  std::vector<double> terms;

  /// True when ||f_i||^2 + jitter is 0 up to rounding, so that f_i has no direction.
  [[nodiscard]] bool is_null(std::size_t i, double jitter) const;
};

/// Throws Error{non_finite_value, degenerate_directions} for the first direction whose norm overflows or is null.
void require_directions(const SquaredNorms& squared, double jitter);

[[nodiscard]] SquaredNorms squared_norms(const Kernel& kernel, MatrixView<const double> reference,
                                         MatrixView<const double> coefficients);

}  // namespace kqd
