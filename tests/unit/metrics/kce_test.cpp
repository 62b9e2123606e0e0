// Distances between covariance operators against centred Gram matrices written out, and against covariance matrices.
#include "metrics/covariance/covariance_plan.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/errors.hpp"
#include "support/methods.hpp"
#include "support/plans.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;
using test::Real;
using test::within;

constexpr double kUncentered = 1;
constexpr double kTrace = 1;
constexpr double kOperator = 2;

std::vector<Real> normalised(const Sample& sample) {
  std::vector<Real> w(sample.points.rows(), 1);
  for (std::size_t i = 0; i < sample.weights.size(); ++i) w[i] = sample.weights[i];
  Real total = 0;
  for (const Real v : w) total += v;
  for (Real& v : w) v /= total;
  return w;
}

Real gaussian(const Sample& x, std::size_t i, const Sample& y, std::size_t j) {
  Real r2 = 0;
  for (std::size_t k = 0; k < x.points.cols(); ++k) {
    const Real gap = Real(x.points(i, k)) - Real(y.points(j, k));
    r2 += gap * gap;
  }
  return std::exp(-r2 / 2);
}

// sum_ij a_i b_j (H_x K_xy H_y)_ij^2.
Real centred_product(const Sample& x, const Sample& y) {
  const auto a = normalised(x);
  const auto b = normalised(y);
  std::vector<std::vector<Real>> k(a.size(), std::vector<Real>(b.size()));
  std::vector<Real> row(a.size(), 0), col(b.size(), 0);
  Real all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      k[i][j] = gaussian(x, i, y, j);
      row[i] += b[j] * k[i][j];
      col[j] += a[i] * k[i][j];
      all += a[i] * b[j] * k[i][j];
    }
  }
  Real total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Real c = k[i][j] - row[i] - col[j] + all;
      total += a[i] * b[j] * c * c;
    }
  }
  return total;
}

// Methods E1; the check values are squares.
TEST(Kce, has_the_check_values) {
  const Sample x = column({0, 1});
  const Sample y = column({.5, 2, 3});
  EXPECT_NEAR(distance("kce", x, y, test::options_with("gaussian@1")).statistic_power, 0.1435076025, 1e-10);
  EXPECT_NEAR(distance("kce", x, y, test::options_with("gaussian@1")).statistic, std::sqrt(0.1435076025), 1e-10);
  EXPECT_NEAR(distance("kce", x, y, test::options_with("gaussian@1", {{"form", kUncentered}})).statistic_power,
              0.4687965156, 1e-10);
}

TEST(Kce, is_the_distance_of_centred_gram_matrices) {
  test::Source source(1);
  for (const auto& [nx, ny] : {std::pair{30UL, 30UL}, {17UL, 41UL}, {1UL, 9UL}, {300UL, 270UL}}) {
    for (const bool ties : {false, true}) {
      for (const bool weighted : {false, true}) {
        const Sample x = test::varied_sample({nx, 2}, source, ties, weighted);
        const Sample y = test::varied_sample({ny, 2}, source, ties, weighted);
        const Real expected = centred_product(x, x) + centred_product(y, y) - 2 * centred_product(x, y);
        // Kernel values below 1 to a few roundings, sums of tiles to 256.
        EXPECT_TRUE(within(distance("kce", x, y, test::options_with("gaussian@1")).statistic_power, expected, 1e-13))
            << nx;
      }
    }
  }
}

TEST(Kce, uncentered_is_the_mmd_of_the_squared_kernel) {
  test::Source source(2);
  const Sample x = test::varied_sample({40, 2}, source, false, true);
  const Sample y = test::varied_sample({25, 2}, source, false, true);
  // The square of a Gaussian is a Gaussian.
  EXPECT_NEAR(distance("kce", x, y, test::options_with("gaussian@1", {{"form", kUncentered}})).statistic,
              distance("mmd-v", x, y, test::options_with("gaussian@" + std::to_string(std::sqrt(0.5)))).statistic,
              1e-6);
  EXPECT_NEAR(distance("kce", x, y, test::options_with("linear:0", {{"form", kUncentered}})).statistic,
              distance("mmd-v", x, y, test::options_with("polynomial:2:0")).statistic, 1e-12);
}

TEST(Kce, squares_of_kernels_are_squares) {
  test::Source source(3);
  const Sample x = test::varied_sample({5, 2}, source, false, false);
  for (const char* text : {"gaussian@1", "gaussian@1*linear", "0.3 gaussian@1+2 laplace@2*linear+imq@1"}) {
    const KernelSpec spec = parse_kernel(text);
    Matrix<double> plain(5, 5), squared(5, 5);
    Kernel(spec).evaluate(x.points, x.points, plain);
    Kernel(squared_kernel(spec)).evaluate(x.points, x.points, squared);
    for (std::size_t i = 0; i < 25; ++i) {
      const double v = plain.values()[i];
      EXPECT_NEAR(squared.values()[i], v * v, 1e-13 * (1.0 + v * v)) << text;
    }
  }
}

// With the linear kernel the operators are covariance matrices; in two dimensions their eigenvalues are explicit.
TEST(Kce, of_the_linear_kernel_compares_covariance_matrices) {
  test::Source source(4);
  for (const bool weighted : {false, true}) {
    for (const bool centered : {true, false}) {
      const Sample x = test::varied_sample({20, 2}, source, false, weighted);
      const Sample y = test::varied_sample({31, 2}, source, true, weighted);
      const auto moments = [&](const Sample& sample) {
        const auto w = normalised(sample);
        Real mean[2] = {0, 0};
        for (std::size_t i = 0; i < w.size(); ++i) {
          for (std::size_t k = 0; k < 2; ++k) mean[k] += centered ? w[i] * Real(sample.points(i, k)) : 0;
        }
        std::array<Real, 3> c{};  // xx, xy, yy
        for (std::size_t i = 0; i < w.size(); ++i) {
          const Real u = sample.points(i, 0) - mean[0], v = sample.points(i, 1) - mean[1];
          c[0] += w[i] * u * u, c[1] += w[i] * u * v, c[2] += w[i] * v * v;
        }
        return c;
      };
      const auto p = moments(x), q = moments(y);
      const Real a = p[0] - q[0], b = p[1] - q[1], c = p[2] - q[2];
      const Real middle = (a + c) / 2, radius = std::sqrt((a - c) * (a - c) / 4 + b * b);
      const Real one = std::abs(middle + radius), two = std::abs(middle - radius);
      const double form = centered ? 0 : kUncentered;
      const auto found = [&](double norm) {
        return distance("kce", x, y, test::options_with("linear:0", {{"form", form}, {"norm", norm}})).statistic;
      };
      EXPECT_TRUE(within(found(0), std::sqrt(one * one + two * two), 1e-11));
      EXPECT_TRUE(within(found(kTrace), one + two, 1e-11));
      EXPECT_TRUE(within(found(kOperator), std::max(one, two), 1e-11));
    }
  }
}

TEST(Kce, a_sample_of_one_row_has_no_covariance) {
  const Sample y = column({.5, 2, 3});
  const double own = static_cast<double>(centred_product(y, y));
  EXPECT_NEAR(distance("kce", column({7}), y, test::options_with("gaussian@1")).statistic_power, own, 1e-14);
  EXPECT_EQ(distance("kce", column({7}), column({9}), test::options_with("gaussian@1")).statistic, 0.0);
  // Any norm: a point has none, and neither has a sample of equal points.
  EXPECT_NEAR(
      distance("kce", column({7}), column({9, 9}), test::options_with("gaussian@1", {{"norm", kTrace}})).statistic, 0.0,
      1e-15);
}

TEST(Kce, of_equal_samples_is_zero_to_the_last_bit) {
  test::Source source(5);
  for (const bool weighted : {false, true}) {
    for (const std::size_t dim : {1UL, 40UL}) {
      const Sample x = test::varied_sample({300, dim}, source, dim == 1, weighted);
      for (const double form : {0.0, kUncentered}) {
        EXPECT_EQ(distance("kce", x, x, test::options_with("gaussian", {{"form", form}})).statistic, 0.0);
      }
    }
    const Sample few = test::varied_sample({40, 2}, source, false, weighted);
    for (const double norm : {kTrace, kOperator}) {
      EXPECT_EQ(distance("kce", few, few, test::options_with("gaussian", {{"norm", norm}})).statistic, 0.0);
    }
  }
}

TEST(Kce, plans_equal_direct_recomputation) {
  test::Source source(6);
  for (const auto& [nx, ny] : {std::pair{40UL, 40UL}, {23UL, 40UL}, {40UL, 3UL}, {1UL, 12UL}, {200UL, 330UL}}) {
    for (const bool ties : {false, true}) {
      for (const bool weighted : {false, true}) {
        const Sample x = test::varied_sample({nx, 3}, source, ties, weighted);
        const Sample y = test::varied_sample({ny, 3}, source, ties, weighted);
        for (const double form : {0.0, kUncentered}) {
          for (const char* kernel : {"gaussian", "linear:0"}) {
            test::expect_plan_equals_distance("kce", x, y, test::options_with(kernel, {{"form", form}}));
          }
          if (nx > 100) continue;
          for (const double norm : {kTrace, kOperator}) {
            test::expect_plan_equals_distance("kce", x, y,
                                              test::options_with("gaussian", {{"form", form}, {"norm", norm}}));
          }
        }
      }
    }
  }
}

TEST(Kce, plans_give_the_same_bits_for_any_threads) {
  test::Source source(7);
  const Sample x = test::varied_sample({300, 2}, source, false, false);
  const Sample y = test::varied_sample({300, 2}, source, false, false);
  test::expect_same_bits("kce", x, y, test::options_with("gaussian"));
  const Sample few = test::varied_sample({20, 2}, source, false, true);
  test::expect_same_bits("kce", few, x, test::options_with("gaussian"));
  test::expect_same_bits("kce", few, test::varied_sample({9, 2}, source, false, false),
                         test::options_with("gaussian", {{"norm", kTrace}}));
}

// Equal means of all features that a linear kernel sees, unequal spread: found by kce, not by mmd.
TEST(Kce, sees_spread_where_means_are_equal) {
  test::Source source(8);
  const Sample x = test::normal_sample({80, 2}, source);
  const Sample y = test::normal_sample({80, 2}, source, 0.0, 2.0);
  TwoSampleOptions options;
  options.method = "kce";
  options.statistic = test::options_with("linear");
  options.test.num_permutations = 199;
  EXPECT_EQ(two_sample_test(x, y, options).test.pvalue, 1.0 / 200.0);
}

TEST(Kce, refuses_sizes_that_take_hours) {
  test::Source source(9);
  const Sample x = test::varied_sample({3000, 1}, source, false, false);
  const Sample other = test::varied_sample({3000, 1}, source, false, false);
  const TestPool wide = make_test_pool(x, other, ThreadCount{1});
  PlanRequest request;
  request.permutation_count = 1000;
  try {
    static_cast<void>(method_with_id("kce").prepare(wide, test::options_with("gaussian", {{"norm", kTrace}}), request));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resource_limit);
    EXPECT_TRUE(std::string(error.what()).starts_with("the spectrum of covariances of 6000 rows, 1000 times takes"));
  }
  EXPECT_THROW(
      static_cast<void>(distance("kce", column({1, 2}), column({3}), test::options_with("gaussian", {{"norm", 3}}))),
      Error);
  test::expect_error(
      ErrorCode::non_finite_value,
      "the covariance distance overflows on this data; rescale the columns or take a "
      "bounded kernel",
      [] {
        static_cast<void>(distance("kce", column({1e200, 1}), column({3, 1}), test::options_with("linear")));
      });
}

}  // namespace
}  // namespace kqd
