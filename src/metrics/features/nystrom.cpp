#include "metrics/features/nystrom.hpp"
#include "metrics/numerics.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "core/eigenpairs.hpp"
#include "core/fail.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

// The two triangles are computed separately and may differ in the last digit.
Matrix<double> symmetric_gram(const Kernel& kernel, const Matrix<double>& landmarks) {
  Matrix<double> gram(landmarks.rows(), landmarks.rows());
  kernel.evaluate(landmarks, landmarks, gram);
  for (std::size_t i = 0; i < gram.rows(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) gram(i, j) = gram(j, i) = 0.5 * (gram(i, j) + gram(j, i));
  }
  require_finite(gram.values(), "a kernel value between landmarks");
  return gram;
}

}  // namespace

Matrix<double> nystrom_factor(const Kernel& kernel, const Matrix<double>& landmarks, NystromRoot root) {
  const std::size_t r = landmarks.rows();
  const auto [values, vectors] = symmetric_eigenpairs(symmetric_gram(kernel, landmarks));
  const double largest = values.back();
  std::size_t first = 0;
  while (first < r && !(values[first] > kSmallestEigenvalue * largest && largest > 0.0)) ++first;
  Matrix<double> columns(r, r - first);
  for (std::size_t k = first; k < r; ++k) {
    const double divisor = root == NystromRoot::half ? std::sqrt(values[k]) : values[k];
    for (std::size_t i = 0; i < r; ++i) columns(i, k - first) = vectors(i, k) / divisor;
  }
  return columns;
}

FeatureMap nystrom_features(const Kernel& kernel, const Matrix<double>& landmarks) {
  const auto columns = std::make_shared<const simd::PackedFactor<double>>(
      nystrom_factor(kernel, landmarks, NystromRoot::half), simd::Op::none);
  const auto block = std::make_shared<const KernelBlock>(kernel, landmarks);
  return {columns->cols(), [columns, block](MatrixView<const double> rows, MatrixView<double> features) {
            Matrix<double> to_landmarks(rows.rows(), block->num_points());
            block->evaluate(rows, to_landmarks);
            simd::multiply(to_landmarks, simd::Op::none, *columns, features);
          }};
}

}  // namespace kqd
