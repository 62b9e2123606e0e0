#include "experiments/pooled_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/mmd.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kN = 9;

Matrix<double> line(std::size_t rows) {
  Matrix<double> points(rows, 1);
  RandomStream stream(Seed{3}, Purpose::test_data);
  for (double& value : points.values()) value = stream.normal();
  return points;
}

Order some_order(std::size_t rows) {
  Order order(rows);
  std::iota(order.begin(), order.end(), 0U);
  RandomStream stream(Seed{4}, Purpose::test_data);
  for (std::size_t i = rows - 1; i > 0; --i) std::swap(order[i], order[stream.below(i + 1)]);
  return order;
}

const char* const kCubic = "polynomial:3:1";

// h by its formula, with the kernel of two numbers.
double h(const Matrix<double>& points, const Order& order, std::size_t i, std::size_t j) {
  const auto k = [&](std::size_t a, std::size_t b) {
    return std::pow(points(order[a], 0) * points(order[b], 0) + 1.0, 3.0);
  };
  return k(i, j) + k(kN + i, kN + j) - k(i, kN + j) - k(j, kN + i);
}

class BothKernels : public testing::Test {
 protected:
  Matrix<double> points_ = line(2 * kN);
  Order order_ = some_order(2 * kN);
  std::unique_ptr<const PooledKernel> gram_ = gram_kernel(Kernel(parse_kernel(kCubic)), points_);
  std::unique_ptr<const PooledKernel> features_ = feature_kernel(cubic_features(points_));
};

TEST_F(BothKernels, near_and_split_pairs_are_sums_of_h) {
  for (const std::size_t r : {1U, 3U, 8U, 20U}) {
    double expected = 0.0;
    for (std::size_t i = 0; i < kN; ++i) {
      for (std::size_t j = i + 1; j < std::min(kN, i + r + 1); ++j) expected += h(points_, order_, i, j);
    }
    EXPECT_NEAR(gram_->near_pairs(order_, r), expected, 1e-9) << r;
    EXPECT_NEAR(features_->near_pairs(order_, r), expected, 1e-9) << r;
  }
  double expected = 0.0;
  for (std::size_t i = 0; i < kN / 2; ++i) expected += h(points_, order_, i, i + kN / 2);
  EXPECT_NEAR(gram_->split_pairs(order_), expected, 1e-9);
  EXPECT_NEAR(features_->split_pairs(order_), expected, 1e-9);
}

TEST_F(BothKernels, sums_give_the_mmd_of_the_halves) {
  Sample x{Matrix<double>(kN, 1), {}, {}};
  Sample y{Matrix<double>(kN, 1), {}, {}};
  for (std::size_t i = 0; i < kN; ++i) {
    x.points(i, 0) = points_(order_[i], 0);
    y.points(i, 0) = points_(order_[kN + i], 0);
  }
  const MethodOptions options{.kernel = parse_kernel(kCubic)};
  const double v = mmd_v(x, y, options).statistic;
  for (const PooledKernel* kernel : {gram_.get(), features_.get()}) {
    const HalfSums sums = kernel->half_sums({&order_, 1}).front();
    EXPECT_NEAR(mmd_unbiased(sums, kN), mmd(x, y, options).statistic, 1e-9);
    EXPECT_NEAR(mmd_v_squared(sums, kN), v * v, 1e-9);
  }
}

TEST_F(BothKernels, projections_agree_and_have_norm_one) {
  Matrix<double> coefficients(3, 2, {1.0, -0.5, 0.3, 2.0, -1.0, 0.7});
  const std::vector<std::size_t> rows = {2, 5, 11};
  Matrix<double> by_gram(2, 2 * kN);
  Matrix<double> by_features(2, 2 * kN);
  gram_->project(rows, coefficients, 1e-6, by_gram);
  features_->project(rows, coefficients, 1e-6, by_features);
  const KernelDirections directions(Kernel(parse_kernel(kCubic)),
                                    Matrix<double>(3, 1, {points_(2, 0), points_(5, 0), points_(11, 0)}), coefficients,
                                    true, 1e-6);
  Matrix<double> expected(2, 2 * kN);
  directions.evaluate(points_, 0, expected, ThreadCount{1});
  for (std::size_t k = 0; k < expected.values().size(); ++k) {
    EXPECT_NEAR(by_gram.values()[k], expected.values()[k], 1e-10);
    EXPECT_NEAR(by_features.values()[k], expected.values()[k], 1e-10);
  }
}

}  // namespace
}  // namespace kqd::lab
