#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/directions/directions.hpp"
#include "metrics/quantile/slices.hpp"

namespace kqd {

/// x -> (x^alpha) over all multi-indices alpha of R^d with |alpha| = q exactly: plain monomials, without multinomial
/// weights, in lexicographic order of their factors [Kol19].
class PolynomialMap {
 public:
  /// Throws Error{invalid_option} for more than 20000 monomials, naming d, q and K.
  PolynomialMap(std::size_t dim, std::size_t degree);

  [[nodiscard]] std::size_t dim() const { return dim_; }
  [[nodiscard]] std::size_t degree() const { return degree_; }
  /// K = C(d + q - 1, q).
  [[nodiscard]] std::size_t num_monomials() const { return num_monomials_; }
  /// One row of K monomials per point. Cost: O(K) products per point.
  void evaluate(MatrixView<const double> points, MatrixView<double> monomials) const;

 private:
  std::size_t dim_;
  std::size_t degree_;
  std::size_t num_monomials_;
  std::vector<std::vector<std::size_t>> last_factor_;  // of the monomials of degree 1, 2, .., q - 1
};

/// u_i(x) = sum_alpha theta_i,alpha x^alpha with |theta_i| = 1. Monomials are computed for a block of points at a
/// time: O(K) memory per block, never N K.
class PolynomialDirections : public Directions {
 public:
  /// `theta`: directions of R^K.
  PolynomialDirections(PolynomialMap map, LinearDirections theta);

  [[nodiscard]] std::size_t count() const override { return theta_.count(); }
  [[nodiscard]] std::size_t dim() const override { return map_.dim(); }
  /// The linear kernel, of the space of monomials.
  [[nodiscard]] const Kernel& kernel() const override { return theta_.kernel(); }
  void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                ThreadCount threads) const override;
  [[nodiscard]] double inner_product(std::size_t i, const Directions& v, std::size_t j) const override;
  /// Column i of the coefficients is theta_i, a weight for each monomial.
  [[nodiscard]] DirectionTerms terms() const override { return theta_.terms(); }

 private:
  PolynomialMap map_;
  LinearDirections theta_;
};

/// u_i(x) = |x - radius theta_i| with |theta_i| = 1: distances to points of a sphere.
class CircularDirections : public Directions {
 public:
  CircularDirections(double radius, LinearDirections theta);

  [[nodiscard]] std::size_t count() const override { return theta_.count(); }
  [[nodiscard]] std::size_t dim() const override { return theta_.dim(); }
  /// The linear kernel, of theta.
  [[nodiscard]] const Kernel& kernel() const override { return theta_.kernel(); }
  void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                ThreadCount threads) const override;
  /// Throws Error{invalid_option}: these functions are not elements of the feature space of a kernel.
  [[nodiscard]] double inner_product(std::size_t i, const Directions& v, std::size_t j) const override;
  /// Column i of the coefficients is theta_i.
  [[nodiscard]] DirectionTerms terms() const override { return theta_.terms(); }

 private:
  double radius_;
  LinearDirections theta_;
};

/// Slices by polynomials. Monomials are computed again whenever they are needed.
class PolynomialSlices : public FeatureSlices {
 public:
  PolynomialSlices(PolynomialMap map, Matrix<double> points, std::vector<std::size_t> blocks)
      : FeatureSlices(std::move(blocks)), map_(std::move(map)), points_(std::move(points)) {}

  [[nodiscard]] std::size_t dim() const override { return map_.num_monomials(); }

 protected:
  [[nodiscard]] MatrixView<const double> features(std::size_t begin, std::size_t end,
                                                  Matrix<double>& scratch) const override;

 private:
  PolynomialMap map_;
  Matrix<double> points_;
};

/// Slices by distances to a point radius w of a sphere.
class CircularSlices : public Slices {
 public:
  CircularSlices(double radius, Matrix<double> points, std::vector<std::size_t> blocks)
      : radius_(radius), points_(points), linear_(std::move(points), std::move(blocks)) {}

  [[nodiscard]] std::size_t num_points() const override { return points_.rows(); }
  [[nodiscard]] std::size_t dim() const override { return points_.cols(); }
  void evaluate(std::span<const double> w, std::span<double> values) const override;
  void pull_back(std::span<const double> w, std::span<const double> values, std::span<const double> slopes,
                 std::span<double> gradient) const override;
  [[nodiscard]] bool linear() const override { return false; }
  [[nodiscard]] const Slices& linear_slices() const override { return linear_; }

 private:
  double radius_;
  Matrix<double> points_;
  StoredSlices linear_;
};

}  // namespace kqd
