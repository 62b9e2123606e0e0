#include "metrics/features/nystrom.hpp"
#include "metrics/numerics.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <memory>
#include <utility>

#include "core/fail.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

// The two triangles are computed separately and may differ in the last digit.
Eigen::MatrixXd symmetric_gram(const Kernel& kernel, const Matrix<double>& landmarks) {
  Matrix<double> gram(landmarks.rows(), landmarks.rows());
  kernel.evaluate(landmarks, landmarks, gram);
  const auto r = static_cast<Eigen::Index>(gram.rows());
  Eigen::MatrixXd symmetric(r, r);
  for (Eigen::Index i = 0; i < r; ++i) {
    for (Eigen::Index j = 0; j < r; ++j) {
      const auto a = static_cast<std::size_t>(i);
      const auto b = static_cast<std::size_t>(j);
      symmetric(i, j) = 0.5 * (gram(a, b) + gram(b, a));
    }
  }
  require_finite(std::span(symmetric.data(), static_cast<std::size_t>(symmetric.size())),
                 "a kernel value between landmarks");
  return symmetric;
}

}  // namespace

Matrix<double> nystrom_factor(const Kernel& kernel, const Matrix<double>& landmarks, NystromRoot root) {
  const auto r = static_cast<Eigen::Index>(landmarks.rows());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric_gram(kernel, landmarks));
  const double largest = solver.eigenvalues()(r - 1);
  Eigen::Index first = 0;
  while (first < r && !(solver.eigenvalues()(first) > kSmallestEigenvalue * largest && largest > 0.0)) ++first;
  Matrix<double> columns(landmarks.rows(), static_cast<std::size_t>(r - first));
  for (Eigen::Index k = first; k < r; ++k) {
    const double lambda = solver.eigenvalues()(k);
    const double divisor = root == NystromRoot::half ? std::sqrt(lambda) : lambda;
    for (Eigen::Index i = 0; i < r; ++i) {
      columns(static_cast<std::size_t>(i), static_cast<std::size_t>(k - first)) = solver.eigenvectors()(i, k) / divisor;
    }
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
