#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Stopping rule of entropic transport.
struct EntropicRule {
  double epsilon = 1.0;           ///< > 0, in the units of the costs
  double tolerance = 1e-6;        ///< 1-norm of the error of the marginals
  std::size_t max_sweeps = 1000;  ///< at this epsilon
  double scaling = 0.5;           ///< from one epsilon to the next on the way down from the largest cost
  ThreadCount threads{1};
};

/// The dual potentials of entropic transport, their value and their error.
struct EntropicTransport {
  std::vector<double> f;
  std::vector<double> g;        ///< empty for the transport of a sample to itself, where it is f
  double value = 0.0;           ///< OT_eps = min <pi, C> + eps KL(pi | a x b), from below by the dual
  double marginal_error = 1.0;  ///< 1-norm, before the last update
  std::size_t sweeps = 0;
  bool converged = false;
};

/// Entropic transport from masses a to masses b (each of sum 1, all > 0) at the given costs >= 0.
///
/// f_i = -eps log sum_j b_j exp((g_j - c_ij) / eps) and g in the same way, in turns. Most sweeps multiply by the matrix
/// exp((f_i + g_j - c_ij) / eps) and keep how f and g change as factors; when these leave [1e-50, 1e50] the
/// potentials absorb them and the matrix is computed again [Sch19]. So a sweep costs one pass over a matrix, and no
/// relevant number under- or overflows. Starts from `f` and `g` if they are passed; else from 0, with epsilon scaled
/// down from the largest cost. Memory: one matrix of the size of the costs. Same bits for any thread count.
[[nodiscard]] EntropicTransport solve_entropic(MatrixView<const double> costs, std::span<const double> a,
                                               std::span<const double> b, const EntropicRule& rule,
                                               std::span<const double> f = {}, std::span<const double> g = {});

/// The same from a sample to itself: costs are symmetric, f = g, and f <- (f + T f) / 2 converges fast [Fey19].
[[nodiscard]] EntropicTransport solve_entropic_self(MatrixView<const double> costs, std::span<const double> a,
                                                    const EntropicRule& rule, std::span<const double> f = {});

}  // namespace kqd
