#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd::lab {

/// A sequence of the N pooled rows: the first half is X, the second Y.
using Order = std::vector<std::uint32_t>;

/// Sums of kernel values over pairs of rows, (i, i) included, and over the diagonal only.
struct HalfSums {
  double within_x = 0.0;
  double within_y = 0.0;
  double between = 0.0;  ///< each pair of a row of X and a row of Y once
  double diagonal_x = 0.0;
  double diagonal_y = 0.0;
};

/// MMD_V^2 and the unbiased estimate of MMD^2, for halves of n rows.
[[nodiscard]] double mmd_v_squared(const HalfSums& sums, std::size_t n);
[[nodiscard]] double mmd_unbiased(const HalfSums& sums, std::size_t n);

/// A kernel on pooled rows, for statistics that depend on the order of rows and can share only kernel values.
class PooledKernel {
 public:
  virtual ~PooledKernel() = default;

  /// values(i, k) = f_i(row k) / sqrt(||f_i||^2 + jitter) with f_i = sum_j c_ji k(row rows[j], .), for all N rows.
  virtual void project(std::span<const std::size_t> rows, MatrixView<const double> coefficients, double jitter,
                       MatrixView<double> values) const = 0;

  /// The sums for each of the orders.
  [[nodiscard]] virtual std::vector<HalfSums> half_sums(std::span<const Order> orders) const = 0;

  /// sum of h_ij = k(x_i,x_j) + k(y_i,y_j) - k(x_i,y_j) - k(x_j,y_i) over 0 < j - i <= `subdiagonals`.
  [[nodiscard]] virtual double near_pairs(const Order& order, std::size_t subdiagonals) const = 0;

  /// sum of h over the pairs (i, i + floor(n/2)), i < floor(n/2).
  [[nodiscard]] virtual double split_pairs(const Order& order) const = 0;
};

/// The kernel by its Gram matrix: any kernel, but N of at most some thousands.
[[nodiscard]] std::unique_ptr<const PooledKernel> gram_kernel(const Kernel& kernel, MatrixView<const double> pool);

/// The kernel by features, k = phi . phi, a row of `features` for each row of the pool: linear in N.
[[nodiscard]] std::unique_ptr<const PooledKernel> feature_kernel(Matrix<double> features);

/// Features of (x y + 1)^3 on the line: x^3, sqrt(3) x^2, sqrt(3) x, 1.
[[nodiscard]] Matrix<double> cubic_features(MatrixView<const double> line);

}  // namespace kqd::lab
