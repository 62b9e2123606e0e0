#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// f(x) = sum_j c_j k(z_j, x): one function, or several that share their points, one per column of the coefficients.
struct FunctionsOfKernel {
  Kernel kernel;
  Matrix<double> points;        ///< m x d
  Matrix<double> coefficients;  ///< m x count
};

/// values(i, j) = function j at row i of the pool.
[[nodiscard]] Matrix<double> evaluate_functions(const FunctionsOfKernel& functions, const Pool& pool,
                                                ThreadCount threads);

/// The gradients of functions, averaged over rows of the pool, per unit of `scales` of each column.
struct AveragedGradients {
  Matrix<double> mean;       ///< count x d
  Matrix<double> magnitude;  ///< count x d: root mean square
};

/// Over at most 1000 rows, the first of the pool, fewer when there are many columns.
[[nodiscard]] AveragedGradients averaged_gradients(const FunctionsOfKernel& functions, const Pool& pool,
                                                   std::span<const double> scales, ThreadCount threads);

/// A function that separates Y from X.
struct Witness {
  FunctionsOfKernel function;  ///< one; larger is more Y-like
  std::vector<double> scores;  ///< per position of the pool: value of the function, less the own contribution of an
                               ///< isolated row; in standard deviations of the leave-one-out values
  std::size_t num_rows = 0;    ///< rows to which the function was fitted
  double share = 0.0;          ///< share of the variance of the labels that leave-one-out values explain
};

struct WitnessRequest {
  Pool pool;                        ///< in an order that does not depend on the labels
  const LabelBatch& labels;         ///< the observed labels are its first permutation
  std::span<const double> weights;  ///< per position, empty: equal
  const KernelSpec& kernel;         ///< bandwidths set
  Seed seed;
  ThreadCount threads;
};

/// The regularised difference of kernel means, sum_j d_j / (v_j + lambda) e_j, along the principal functions e_j of the
/// pool with variances v_j: the kernel discriminant. Only the two means behind d_j depend on the labels, so a row is
/// left out by leaving it out of its mean. lambda, and the bandwidth among half, once and twice the given one, maximise
/// the correlation of leave-one-out scores with the labels. Fitted to at most 10000 rows, at most 2500 of which choose
/// the bandwidth; the scores of further rows are out of sample.
[[nodiscard]] Witness fit_witness(const WitnessRequest& request);

}  // namespace kqd
