#include "directions/principal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "directions/reference.hpp"

namespace kqd {
namespace {

Matrix<double> cloud(std::size_t rows, std::size_t dim, std::uint64_t seed) {
  Matrix<double> points(rows, dim);
  RandomStream stream(Seed{seed}, Purpose::test_data);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < dim; ++k) points(i, k) = stream.normal() * static_cast<double>(k + 1);
  }
  return points;
}

// e_j(row i) for every row and function.
Matrix<double> values_of(const Kernel& kernel, const PrincipalBasis& basis, const Matrix<double>& points) {
  Matrix<double> k(points.rows(), basis.landmarks.rows());
  kernel.evaluate(points, basis.landmarks, k);
  Matrix<double> values(points.rows(), basis.variances.size(), 0.0);
  for (std::size_t i = 0; i < points.rows(); ++i) {
    for (std::size_t j = 0; j < values.cols(); ++j) {
      for (std::size_t s = 0; s < k.cols(); ++s) values(i, j) += k(i, s) * basis.coefficients(s, j);
    }
  }
  return values;
}

PrincipalBasis basis_of(const Kernel& kernel, const Matrix<double>& points, PrincipalOptions options, Seed seed = {}) {
  const Matrix<double> none(0, points.cols());
  return principal_basis(kernel, Pool{points, none}, options, seed, ThreadCount{1});
}

TEST(PrincipalBasis, functions_are_orthonormal_in_the_feature_space) {
  const Matrix<double> points = cloud(60, 2, 1);
  const Kernel kernel(parse_kernel("gaussian@1.5"));
  const PrincipalBasis basis = basis_of(kernel, points, {.num_landmarks = 20, .max_rank = 8});
  Matrix<double> gram(20, 20);
  kernel.evaluate(basis.landmarks, basis.landmarks, gram);
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) {
      double product = 0.0;
      for (std::size_t i = 0; i < 20; ++i) {
        for (std::size_t j = 0; j < 20; ++j)
          product += basis.coefficients(i, a) * gram(i, j) * basis.coefficients(j, b);
      }
      // Eigenvalues of the landmarks' Gram matrix down to 1e-10 are inverted: 1e-16 / 1e-10.
      EXPECT_NEAR(product, a == b ? 1.0 : 0.0, 1e-6);
    }
  }
}

TEST(PrincipalBasis, pooled_variances_along_the_functions_are_the_eigenvalues_and_they_are_uncorrelated) {
  const Matrix<double> points = cloud(80, 2, 2);
  const Kernel kernel(parse_kernel("gaussian@2"));
  const PrincipalBasis basis = basis_of(kernel, points, {.num_landmarks = 30, .max_rank = 6});
  const Matrix<double> values = values_of(kernel, basis, points);
  std::vector<double> means(6, 0.0);
  for (std::size_t i = 0; i < 80; ++i) {
    for (std::size_t j = 0; j < 6; ++j) means[j] += values(i, j) / 80.0;
  }
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = 0; b < 6; ++b) {
      double covariance = 0.0;
      for (std::size_t i = 0; i < 80; ++i) covariance += (values(i, a) - means[a]) * (values(i, b) - means[b]) / 80.0;
      EXPECT_NEAR(covariance, a == b ? basis.variances[a] : 0.0, 1e-8 * basis.variances[0]);
    }
  }
  for (std::size_t j = 1; j < 6; ++j) EXPECT_GE(basis.variances[j - 1], basis.variances[j]);
}

TEST(PrincipalBasis, of_the_linear_kernel_is_that_of_the_principal_components) {
  // Independent columns of spread 1, 2, 3: with as many landmarks as rows the first component is the third axis.
  const Matrix<double> points = cloud(400, 3, 3);
  const PrincipalBasis basis =
      basis_of(Kernel(parse_kernel("linear:0")), points, {.num_landmarks = 400, .max_rank = 9});
  ASSERT_EQ(basis.variances.size(), 3U);
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    mean += points(i, 2) / 400.0;
    square += points(i, 2) * points(i, 2) / 400.0;
  }
  // The sample correlation of two columns of 400 rows is below 0.2 by four standard errors: the largest eigenvalue lies
  // above the variance of the third column and at most 4 % of 9 - 4 above it.
  EXPECT_GE(basis.variances[0], square - mean * mean - 1e-9);
  EXPECT_LE(basis.variances[0], (square - mean * mean) * 1.1);
}

TEST(PrincipalBasis, is_the_same_for_any_number_of_threads_and_order_of_seeds_matters) {
  const Matrix<double> points = cloud(9000, 2, 4);
  const Matrix<double> none(0, 2);
  const Kernel kernel(parse_kernel("gaussian@1"));
  const PrincipalOptions options{.num_landmarks = 16, .max_rank = 5};
  const PrincipalBasis one = principal_basis(kernel, Pool{points, none}, options, Seed{1}, ThreadCount{1});
  const PrincipalBasis two = principal_basis(kernel, Pool{points, none}, options, Seed{1}, ThreadCount{2});
  EXPECT_EQ(one.variances, two.variances);
  EXPECT_TRUE(std::ranges::equal(one.coefficients.values(), two.coefficients.values()));
  EXPECT_NE(principal_basis(kernel, Pool{points, none}, options, Seed{2}, ThreadCount{1}).positions, one.positions);
}

TEST(PrincipalBasis, is_empty_when_the_pool_does_not_vary_and_truncated_at_its_rank) {
  const Matrix<double> equal(12, 2, 3.0);
  EXPECT_TRUE(basis_of(Kernel(parse_kernel("gaussian@1")), equal, {}).variances.empty());
  Matrix<double> two(12, 1, 0.0);
  for (std::size_t i = 6; i < 12; ++i) two(i, 0) = 1.0;
  EXPECT_EQ(basis_of(Kernel(parse_kernel("gaussian@1")), two, {}).variances.size(), 1U);  // two points, one difference
}

TEST(PrincipalBasis, landmarks_cover_the_features_of_small_kernels) {
  EXPECT_EQ(default_num_landmarks(parse_kernel("gaussian"), 1000, 3), 128U);
  EXPECT_EQ(default_num_landmarks(parse_kernel("gaussian"), 40, 3), 10U);
  EXPECT_EQ(default_num_landmarks(parse_kernel("linear"), 1000, 300), 301U);
  EXPECT_EQ(default_num_landmarks(parse_kernel("polynomial:3:1"), 1000, 5), 128U);  // 56 features
  EXPECT_EQ(default_num_landmarks(parse_kernel("polynomial:2:1"), 1000, 20), 231U);
  EXPECT_EQ(default_num_landmarks(parse_kernel("polynomial:2:1"), 100, 20), 100U);
}

TEST(PrincipalDirections, have_norm_one_or_the_spread_of_the_pool_is_divided_out) {
  const Matrix<double> points = cloud(100, 2, 5);
  const Matrix<double> none(0, 2);
  const Kernel kernel(parse_kernel("gaussian@1.5"));
  DirectionOptions options{.family = DirectionFamily::principal, .num_directions = 5};
  const DrawnDirections plain = draw_directions(kernel, Pool{points, none}, options, Seed{1});
  EXPECT_EQ(plain.directions->count(), 5U);
  EXPECT_EQ(plain.pooled_rows.size(), 25U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(plain.directions->inner_product(i, *plain.directions, i), 1.0, 1e-6);
  options.whiten = true;
  const DrawnDirections whitened = draw_directions(kernel, Pool{points, none}, options, Seed{1});
  Matrix<double> values(5, 100);
  whitened.directions->evaluate(points, 0, values, ThreadCount{1});
  double mean = 0.0;
  double square = 0.0;
  for (const double v : values.row(0)) {
    mean += v / 100.0;
    square += v * v / 100.0;
  }
  EXPECT_NEAR(square - mean * mean, 1.0 / 1.001, 1e-6);  // the ridge is a thousandth of the largest variance
}

TEST(MixedDirections, are_half_principal_and_half_gaussian) {
  const Matrix<double> points = cloud(100, 2, 6);
  const Matrix<double> none(0, 2);
  const Kernel kernel(parse_kernel("gaussian@1.5"));
  const DirectionOptions mixed{.family = DirectionFamily::mixed, .num_directions = 8};
  const DirectionOptions principal{.family = DirectionFamily::principal, .num_directions = 4};
  const DirectionOptions gaussian{.num_directions = 4, .num_reference = 12};
  const auto of = [&](const DirectionOptions& options) {
    const auto drawn = draw_directions(kernel, Pool{points, none}, options, Seed{3});
    Matrix<double> values(drawn.directions->count(), 100);
    drawn.directions->evaluate(points, 0, values, ThreadCount{1});
    return values;
  };
  const Matrix<double> all = of(mixed);
  const Matrix<double> first = of(principal);
  const Matrix<double> second = of(gaussian);
  ASSERT_EQ(all.rows(), 8U);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 100; ++j) {
      EXPECT_NEAR(all(i, j), first(i, j), 1e-9);
      EXPECT_NEAR(all(4 + i, j), second(i, j), 1e-12);
    }
  }
}

}  // namespace
}  // namespace kqd
