#include "metrics/covariance/covariance_spectrum.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/eigenpairs.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {

CovarianceSpectrum::CovarianceSpectrum(const Matrix<double>& gram, bool centered, Norm norm)
    : centered_(centered), norm_(norm) {
  const std::size_t n = gram.rows();
  for (std::size_t i = 0; i < n; ++i) largest_diagonal_ = std::max(largest_diagonal_, gram(i, i));
  const auto [values, vectors] = symmetric_eigenpairs(gram);
  const double floor = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * std::max(0.0, values.back());
  const auto first = static_cast<std::size_t>(std::ranges::count_if(values, [&](double v) { return v <= floor; }));
  factor_ = Matrix<double>(n, n - first);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = first; k < n; ++k) factor_(i, k - first) = vectors(i, k) * std::sqrt(values[k]);
  }
}

double CovarianceSpectrum::between(std::span<const double> p, std::span<const double> q) const {
  const std::size_t r = rank();
  if (r == 0) return 0.0;
  Matrix<double> scaled(factor_);
  std::vector<double> mean_p(r, 0.0);
  std::vector<double> mean_q(r, 0.0);
  for (std::size_t i = 0; i < factor_.rows(); ++i) {
    for (std::size_t k = 0; k < r; ++k) {
      mean_p[k] += p[i] * factor_(i, k);
      mean_q[k] += q[i] * factor_(i, k);
      scaled(i, k) *= p[i] - q[i];
    }
  }
  Matrix<double> operator_matrix(r, r);
  simd::multiply(scaled, simd::Op::transpose, factor_, simd::Op::none, operator_matrix);
  if (centered_) {
    for (std::size_t i = 0; i < r; ++i) {
      for (std::size_t k = 0; k < r; ++k) operator_matrix(i, k) -= mean_p[i] * mean_p[k] - mean_q[i] * mean_q[k];
    }
  }
  double total = 0.0;
  double largest = 0.0;
  for (const double value : symmetric_eigenvalues(operator_matrix)) {
    total += std::abs(value);
    largest = std::max(largest, std::abs(value));
  }
  return norm_ == Norm::trace ? total : largest;
}

double CovarianceSpectrum::rounding() const {
  const double of_one =
      4.0 * static_cast<double>(factor_.rows() + rank()) * std::numeric_limits<double>::epsilon() * largest_diagonal_;
  return norm_ == Norm::trace ? of_one * static_cast<double>(rank()) : of_one;
}

double CovarianceSpectrum::seconds(std::size_t num_points, std::size_t count) {
  const double cube = std::pow(static_cast<double>(num_points), 3);
  return 1e-8 * cube + static_cast<double>(count) * 2e-9 * cube;
}

}  // namespace kqd
