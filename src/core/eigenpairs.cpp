#include "core/eigenpairs.hpp"

#include <Eigen/Eigenvalues>

#include "core/fail.hpp"

namespace kqd {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Solver = Eigen::SelfAdjointEigenSolver<Rows>;

Eigen::Map<const Eigen::VectorXd> as_vector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

Rows copy_of(MatrixView<const double> matrix) {
  Rows copy(static_cast<Eigen::Index>(matrix.rows()), static_cast<Eigen::Index>(matrix.cols()));
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    copy.row(static_cast<Eigen::Index>(i)) = as_vector(matrix.row(i)).transpose();
  }
  return copy;
}

std::vector<double> values_of(const Solver& solver) {
  if (solver.info() != Eigen::Success) {
    fail(ErrorCode::internal, "the eigenvalues of a matrix of {} rows did not converge", solver.eigenvalues().size());
  }
  return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

Eigenpairs pairs_of(const Solver& solver) {
  Eigenpairs pairs{values_of(solver), {}};
  const std::size_t n = pairs.values.size();
  pairs.vectors = Matrix<double>(n, n);
  Eigen::Map<Rows>(pairs.vectors.data(), solver.eigenvectors().rows(), solver.eigenvectors().cols()) =
      solver.eigenvectors();
  return pairs;
}

}  // namespace

Eigenpairs symmetric_eigenpairs(MatrixView<const double> matrix) {
  return pairs_of(Solver(copy_of(matrix)));
}

std::vector<double> symmetric_eigenvalues(MatrixView<const double> matrix) {
  return values_of(Solver(copy_of(matrix), Eigen::EigenvaluesOnly));
}

Eigenpairs tridiagonal_eigenpairs(std::span<const double> diagonal, std::span<const double> below) {
  Solver solver;
  solver.computeFromTridiagonal(as_vector(diagonal), as_vector(below));
  return pairs_of(solver);
}

}  // namespace kqd
