#include "directions/principal.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/eigenpairs.hpp"
#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerBlock = 4096;
constexpr double kNumericalRank = 1e-10;  // relative to the largest eigenvalue

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Rows> as_eigen(const Matrix<double>& matrix) {
  return {matrix.data(), static_cast<Eigen::Index>(matrix.rows()), static_cast<Eigen::Index>(matrix.cols())};
}

// The eigenpairs of a symmetric matrix above the numerical rank, largest first, each vector with its largest entry > 0:
// a sign that no rounding turns.
struct Spectrum {
  std::vector<double> values;
  Rows vectors;  // one column each
};

Spectrum leading_spectrum(const Rows& symmetric, std::size_t max_rank) {
  if (!symmetric.allFinite()) {
    fail(ErrorCode::non_finite_value, "kernel values of the pooled points overflow; {}", kOverflowAdvice);
  }
  const auto count = static_cast<std::size_t>(symmetric.rows());
  const Eigenpairs pairs = symmetric_eigenpairs({symmetric.data(), count, count});
  const double largest = count > 0 ? pairs.values.back() : 0.0;
  Spectrum spectrum;
  for (std::size_t k = count; k-- > 0 && spectrum.values.size() < max_rank;) {
    if (!(pairs.values[k] > kNumericalRank * largest) || !(pairs.values[k] > 0.0)) break;
    spectrum.values.push_back(pairs.values[k]);
  }
  const auto rank = static_cast<Eigen::Index>(spectrum.values.size());
  spectrum.vectors.resize(symmetric.rows(), rank);
  for (Eigen::Index j = 0; j < rank; ++j) {
    const auto vector = as_eigen(pairs.vectors).col(symmetric.rows() - 1 - j);
    Eigen::Index place = 0;
    vector.cwiseAbs().maxCoeff(&place);
    spectrum.vectors.col(j) = vector * (vector[place] < 0.0 ? -1.0 : 1.0);
  }
  return spectrum;
}

// sum over the pool of f(z) f(z)' and of f(z), f(z) = basis' (k_s(z) - shift), blocks added in order.
//
// Moments of the functions, not of the kernel values: those are products of numbers that the small functions are lost
// in.
struct Moments {
  Rows second;
  Eigen::VectorXd first;
};

Moments moments_of_functions(const KernelBlock& block, const Matrix<double>& basis, const Eigen::VectorXd& shift,
                             const Pool& pool, ThreadCount threads) {
  const std::size_t m = block.num_points();
  const std::size_t rank = basis.cols();
  const std::size_t num_blocks = (pool.size() + kRowsPerBlock - 1) / kRowsPerBlock;
  std::vector<Matrix<double>> second(num_blocks);
  Matrix<double> first(num_blocks, rank, 0.0);
  parallel_for_blocks(pool.size(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> rows(end - begin, pool.dim());
    copy_rows(pool, begin, rows);
    Matrix<double> kernel_values(end - begin, m);
    block.evaluate(rows, kernel_values);
    for (std::size_t i = 0; i < kernel_values.rows(); ++i) {
      for (std::size_t j = 0; j < m; ++j) kernel_values(i, j) -= shift[static_cast<Eigen::Index>(j)];
    }
    Matrix<double> values(end - begin, rank);
    simd::multiply(kernel_values, simd::Op::none, basis, simd::Op::none, values);
    const std::size_t b = begin / kRowsPerBlock;
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t j = 0; j < rank; ++j) first(b, j) += values(i, j);
    }
    second[b] = Matrix<double>(rank, rank);
    simd::multiply(values, simd::Op::transpose, values, simd::Op::none, second[b]);
  });
  Moments moments{Rows::Zero(static_cast<Eigen::Index>(rank), static_cast<Eigen::Index>(rank)),
                  Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rank))};
  for (std::size_t b = 0; b < num_blocks; ++b) {
    moments.second += as_eigen(second[b]);
    for (std::size_t j = 0; j < rank; ++j) moments.first[static_cast<Eigen::Index>(j)] += first(b, j);
  }
  return moments;
}

Matrix<double> to_matrix(const Rows& rows) {
  Matrix<double> matrix(static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols()));
  std::ranges::copy(rows.reshaped<Eigen::RowMajor>(), matrix.values().begin());
  return matrix;
}

// The dimension of the feature space of a kernel with few features; 0 when it has many or infinitely many.
std::size_t num_features(const KernelSpec& kernel, std::size_t dim) {
  constexpr std::size_t kFew = 512;
  const auto degree = feature_degree(kernel);
  if (!degree) return 0;
  std::size_t count = 1;  // monomials of degree at most `degree` in `dim` variables: C(dim + degree, degree)
  for (std::size_t k = 1; k <= *degree; ++k) {
    count = count * (dim + k) / k;
    if (count > kFew) return 0;
  }
  return count;
}

}  // namespace

std::size_t default_num_landmarks(const KernelSpec& kernel, std::size_t num_rows, std::size_t dim) {
  const std::size_t few = std::clamp<std::size_t>(num_rows / 4, 2, 128);
  return std::min(num_rows, std::max(few, num_features(kernel, dim)));
}

PrincipalBasis principal_basis(const Kernel& kernel, const Pool& pool, const PrincipalOptions& options, Seed seed,
                               ThreadCount threads) {
  RandomStream stream(seed, Purpose::landmarks);
  const std::size_t m = std::min(options.num_landmarks, pool.size());
  PrincipalBasis basis;
  basis.positions = sample_without_replacement(pool.size(), m, stream);
  std::ranges::sort(basis.positions);
  basis.landmarks = gather(pool, basis.positions);
  basis.coefficients = Matrix<double>(m, 0);

  // Orthonormal functions of the landmarks' span: K_ss = U D U' gives coefficients U D^-1/2.
  const KernelBlock block(kernel, basis.landmarks);
  Matrix<double> gram(m, m);
  block.evaluate(basis.landmarks, gram);
  const Rows symmetric = 0.5 * (as_eigen(gram) + as_eigen(gram).transpose());
  const Spectrum span = leading_spectrum(symmetric, m);
  if (span.values.empty()) return basis;
  Rows orthonormal = span.vectors;
  for (Eigen::Index j = 0; j < orthonormal.cols(); ++j) {
    orthonormal.col(j) /= std::sqrt(span.values[static_cast<std::size_t>(j)]);
  }

  // The pooled covariance in this basis. Kernel values are measured from their mean over the landmarks, which is close
  // to the pooled mean: little cancels when the mean is taken out.
  const Eigen::VectorXd shift = symmetric.colwise().mean().transpose();
  const Moments moments = moments_of_functions(block, to_matrix(orthonormal), shift, pool, threads);
  const auto n = static_cast<double>(pool.size());
  const Rows in_basis = moments.second / n - (moments.first / n) * (moments.first / n).transpose();
  const Spectrum spectrum = leading_spectrum(0.5 * (in_basis + in_basis.transpose()), options.max_rank);
  basis.variances = spectrum.values;
  basis.coefficients = to_matrix(orthonormal * spectrum.vectors);
  return basis;
}

}  // namespace kqd
