#pragma once
#include <cstddef>

#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Frequencies w_1..w_R of the spectral distribution of a shift-invariant kernel: k(x, y) = k(0, 0) E cos(w.(x - y)).
struct Frequencies {
  Matrix<double> rows;   ///< R x d
  double at_zero = 1.0;  ///< k(x, x)
};

/// Draws from the spectral distribution; row r is a function of kernel, seed and r only. With `orthogonal`, rows are
/// made orthogonal d at a time and keep their lengths: each still has the spectral distribution, together they cover
/// the space more evenly [Yu16]. That needs a distribution without preferred axes: gaussian, matern12/32/52, rq, imq. A
/// product adds frequencies of its parts, a sum mixes them. Throws Error{invalid_option} for other kernels.
[[nodiscard]] Frequencies draw_frequencies(const KernelSpec& kernel, std::size_t num_frequencies, std::size_t dim,
                                           bool orthogonal, Seed seed);

}  // namespace kqd
