#include "metrics/features/hotelling.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/eigenpairs.hpp"
#include "metrics/features/mean_gap.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr double kFlat = 1e-10;   // of the largest variance
constexpr double kFloor = 1e-12;  // of the pooled variance: keeps the value finite when a feature separates the groups

// The factor of sum w (g - m)(g - m)' that estimates the covariance of the mean: 1/(n (n-1)) without weights. One
// row has no scatter.
double scatter_factor(const GroupSums& group) {
  const double shares = group.squared_shares();
  return shares < 1.0 ? shares / ((1.0 - shares) * group.weight) : 0.0;
}

// matrix += factor sum w (psi - mean)(psi - mean)', lower triangle.
void add_covariance(const GroupSums& group, Eigen::MatrixXd& matrix) {
  const double factor = scatter_factor(group);
  const std::size_t f = group.features.size();
  std::size_t p = 0;
  for (std::size_t k = 0; k < f; ++k) {
    for (std::size_t l = k; l < f; ++l, ++p) {
      const double scatter = group.products[p] - group.features[k] * (group.features[l] / group.weight);
      matrix(static_cast<Eigen::Index>(l), static_cast<Eigen::Index>(k)) += factor * scatter;
    }
  }
}

}  // namespace

WhitenedFeatures whiten(const FeatureMap& map, const PooledFeatures& features) {
  const GroupSums all = features.all();
  const std::size_t f = map.count;
  Matrix<double> covariance(f, f);
  std::size_t p = 0;
  for (std::size_t k = 0; k < f; ++k) {
    for (std::size_t l = k; l < f; ++l, ++p) {
      // Rows are measured from their mean; units are not, quite.
      const double means =
          features.num_additions() > 0 ? all.features[k] / all.weight * (all.features[l] / all.weight) : 0.0;
      covariance(k, l) = covariance(l, k) = all.products[p] / all.weight - means;
    }
  }
  const auto [variances, vectors] = symmetric_eigenpairs(covariance);
  const auto basis = std::make_shared<Matrix<double>>(f, f);
  WhitenedFeatures whitened;
  for (std::size_t k = 0; k < f; ++k) {
    if (!(variances[k] > kFlat * variances.back())) continue;  // all of them when there is no variance at all
    const std::size_t column = whitened.eigenvalues.size();
    for (std::size_t i = 0; i < f; ++i) (*basis)(i, column) = vectors(i, k) / std::sqrt(variances[k]);
    whitened.eigenvalues.push_back(variances[k]);
  }
  const std::size_t rank = whitened.eigenvalues.size();
  const std::vector<double> centre(features.centre().begin(), features.centre().end());
  whitened.map = {rank, [map, basis, centre, rank](MatrixView<const double> rows, MatrixView<double> turned) {
                    Matrix<double> plain(rows.rows(), centre.size());
                    map.evaluate(rows, plain);
                    for (std::size_t i = 0; i < plain.rows(); ++i) {
                      for (std::size_t k = 0; k < centre.size(); ++k) plain(i, k) -= centre[k];
                    }
                    simd::multiply(plain, simd::Op::none, basis->view().column_range(0, rank), simd::Op::none, turned);
                  }};
  return whitened;
}

double Hotelling::value(const GroupSums& x, const GroupSums& y, const PooledFeatures& /*pooled*/) const {
  const auto f = static_cast<Eigen::Index>(x.features.size());
  if (f == 0) return 0.0;
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(f, f);
  add_covariance(x, matrix);
  add_covariance(y, matrix);
  const double kappa = x.squared_shares() + y.squared_shares();
  Eigen::VectorXd gap(f);
  for (Eigen::Index k = 0; k < f; ++k) {
    const auto at = static_cast<std::size_t>(k);
    gap(k) = x.features[at] / x.weight - y.features[at] / y.weight;
    matrix(k, k) += kappa * (0.5 * ridge_ / eigenvalues_[at] + kFloor);
  }
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> factor(matrix);
  factor.matrixL().solveInPlace(gap);
  return gap.squaredNorm();
}

double Hotelling::slack(double value, double rounding, const PooledFeatures& pooled) const {
  // The pool has unit covariance in these features, so its scatter is W I for a total weight W, and that within groups
  // is W I - c z z' with c = wx wy / W >= W I / (1 + c z' (scatter)^-1 z). The covariances are between a_min and a_max
  // times the latter, hence c z' (scatter)^-1 z <= c a_max T and this is below their smallest eigenvalue:
  const GroupSums x = pooled.observed_x();
  const GroupSums y = pooled.observed_y();
  const auto [a_min, a_max] = std::minmax({scatter_factor(x), scatter_factor(y)});
  const double total = x.weight + y.weight;
  const double c = x.weight * y.weight / total;
  const double kappa = x.squared_shares() + y.squared_shares();
  const double smallest = a_min * total / (1.0 + c * a_max * value) + kappa * kFloor;
  // Errors of z, and of the covariances (their own sums, and the factorisation of r features [Hig02, Thm 10.3]).
  const double gap = gap_error(rounding, pooled);
  const auto features = static_cast<double>(pooled.num_features());
  const double eps = std::numeric_limits<double>::epsilon();
  const double covariance = (4.0 * rounding + 8.0 * features * eps) * a_max * total * std::max(1.0, features);
  return 2.0 * std::sqrt(value / smallest) * gap + gap * gap / smallest + value * (covariance / smallest + 8.0 * eps);
}

double Hotelling::pooled_scale(const PooledFeatures& pooled) const {
  return 1.0 / (pooled.observed_x().squared_shares() + pooled.observed_y().squared_shares());
}

}  // namespace kqd
