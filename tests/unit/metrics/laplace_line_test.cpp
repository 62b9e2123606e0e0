// The MMD with exp(-|x - y| / s) on the line, by one sort, against the Gram matrix written out.
#include "metrics/mean/laplace_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/plans.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;
using test::Real;
using test::within;

struct Sums {
  Real v_squared = 0;
  Real unbiased = 0;
};

// Double sums over all pairs in long double, in their weighted forms.
Sums by_gram(const Sample& x, const Sample& y, double s) {
  const auto weights = [](const Sample& sample) {
    std::vector<Real> w(sample.points.rows(), 1);
    for (std::size_t i = 0; i < sample.weights.size(); ++i) w[i] = sample.weights[i];
    Real total = 0;
    for (const Real v : w) total += v;
    for (Real& v : w) v /= total;
    return w;
  };
  const auto a = weights(x);
  const auto b = weights(y);
  const auto sum = [&](const Sample& p, const std::vector<Real>& u, const Sample& q, const std::vector<Real>& v) {
    Real total = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      for (std::size_t j = 0; j < v.size(); ++j) {
        total += u[i] * v[j] * std::exp(-std::abs(Real(p.points(i, 0)) - Real(q.points(j, 0))) / Real(s));
      }
    }
    return total;
  };
  const auto squares = [](const std::vector<Real>& w) {
    Real total = 0;
    for (const Real v : w) total += v * v;
    return total;
  };
  const Real xx = sum(x, a, x, a), yy = sum(y, b, y, b), xy = sum(x, a, y, b);
  const Real sx = squares(a), sy = squares(b);
  return {xx + yy - 2 * xy, (xx - sx) / (1 - sx) + (yy - sy) / (1 - sy) - 2 * xy};
}

MethodOptions with_kernel(const std::string& kernel) {
  MethodOptions options;
  options.kernel = parse_kernel(kernel);
  return options;
}

// Methods C2.
TEST(LaplaceLine, has_the_check_value) {
  for (const char* kernel : {"laplace@1", "matern12@1"}) {
    EXPECT_NEAR(distance("mmd-v", column({0, 1}), column({.5, 2, 3}), with_kernel(kernel)).statistic_power,
                0.5330501665, 1e-10);
  }
  EXPECT_NEAR(laplace_line_norms(1.0, column({0}), column({1})).difference, 2.0 - 2.0 * std::exp(-1.0), 1e-15);
}

// A pass over N points rounds each sum by some N eps; the oracle works in long double.
TEST(LaplaceLine, is_the_mmd_of_the_gram_matrix) {
  test::Source source(1);
  for (const double s : {0.01, 1.0, 300.0}) {
    for (const bool ties : {false, true}) {
      for (const bool weighted : {false, true}) {
        const Sample x = test::varied_sample({70, 1}, source, ties, weighted);
        const Sample y = test::varied_sample({45, 1}, source, ties, weighted);
        const Sums expected = by_gram(x, y, s);
        const MethodOptions options = with_kernel("laplace@" + std::to_string(s));
        EXPECT_TRUE(within(distance("mmd-v", x, y, options).statistic_power, expected.v_squared, 1e-14));
        EXPECT_TRUE(within(distance("mmd", x, y, options).statistic, expected.unbiased, 1e-14));
      }
    }
  }
}

TEST(LaplaceLine, of_equal_samples_is_zero_to_the_last_bit) {
  test::Source source(2);
  for (const bool weighted : {false, true}) {
    const Sample x = test::varied_sample({500, 1}, source, true, weighted);
    EXPECT_EQ(distance("mmd-v", x, x, with_kernel("laplace")).statistic, 0.0);
  }
}

TEST(LaplaceLine, plans_equal_direct_recomputation) {
  test::Source source(3);
  for (const char* id : {"mmd", "mmd-v"}) {
    for (const auto& [nx, ny] : {std::pair{40UL, 40UL}, {23UL, 61UL}, {2UL, 50UL}, {1500UL, 900UL}}) {
      for (const bool ties : {false, true}) {
        for (const bool weighted : {false, true}) {
          const Sample x = test::varied_sample({nx, 1}, source, ties, weighted);
          const Sample y = test::varied_sample({ny, 1}, source, ties, weighted);
          for (const char* kernel : {"laplace", "matern12@0.05", "laplace@500"}) {
            test::expect_plan_equals_distance(id, x, y, with_kernel(kernel));
          }
        }
      }
    }
  }
}

// The same permutations by the Gram matrix: a sum of one Laplace kernel is that kernel, but is not recognised.
TEST(LaplaceLine, tests_like_the_gram_matrix) {
  test::Source source(4);
  for (const char* id : {"mmd", "mmd-v"}) {
    for (const bool weighted : {false, true}) {
      const Sample x = test::varied_sample({60, 1}, source, false, weighted);
      const Sample y = test::varied_sample({35, 1}, source, false, weighted);
      TwoSampleOptions options;
      options.method = id;
      options.test.keep_null_distribution = true;
      options.test.num_permutations = 100;
      options.statistic = with_kernel("laplace@0.7");
      const TwoSampleResult line = two_sample_test(x, y, options);
      options.statistic = with_kernel("0.5 laplace@0.7+0.5 laplace@0.7");
      const TwoSampleResult gram = two_sample_test(x, y, options);
      for (std::size_t b = 0; b < 100; ++b) {
        EXPECT_NEAR(line.test.null_distribution[b], gram.test.null_distribution[b], 1e-13);
      }
      EXPECT_EQ(line.test.pvalue, gram.test.pvalue);
      EXPECT_NEAR(line.effect_size, gram.effect_size, 1e-10);
    }
  }
}

TEST(LaplaceLine, gives_the_same_bits_for_any_threads) {
  test::Source source(5);
  const Sample x = test::varied_sample({100, 1}, source, false, true);
  const Sample y = test::varied_sample({80, 1}, source, false, true);
  for (const char* id : {"mmd", "mmd-v"}) test::expect_same_bits(id, x, y, with_kernel("laplace"));
}

// Points that do not see each other: MMD_V^2 = 1/nx + 1/ny, and the unbiased estimate is 0.
TEST(LaplaceLine, takes_gaps_of_any_size) {
  const Sample x = column({-1e308, 0, 1e308});
  const Sample y = column({-1e300, 1.7e308});
  for (const char* kernel : {"laplace@1", "laplace@1e-200", "laplace@1e-300"}) {
    EXPECT_NEAR(distance("mmd-v", x, y, with_kernel(kernel)).statistic_power, 1.0 / 3.0 + 1.0 / 2.0, 1e-15);
    EXPECT_NEAR(distance("mmd", x, y, with_kernel(kernel)).statistic, 0.0, 1e-15);
    test::expect_plan_equals_distance("mmd-v", x, y, with_kernel(kernel));
  }
  // And points that are one to the kernel: gaps of 1e-17 of the bandwidth are all that is left of the statistic.
  const double tiny = distance("mmd-v", column({0, 1}), column({2, 3}), with_kernel("laplace@1e17")).statistic_power;
  const double expected = 3e-17;  // sum of gap C^2 2/s: (1/4 + 1 + 1/4) 2e-17
  EXPECT_NEAR(tiny, expected, 1e-12 * expected);
}

// Where the Gram matrix would have 4e12 entries: refused for other kernels, seconds for this one.
TEST(LaplaceLine, takes_a_million_rows) {
  test::Source source(6);
  const Sample x = test::normal_sample({500'000, 1}, source);
  const Sample y = test::normal_sample({500'000, 1}, source, 0.02);
  TwoSampleOptions options;
  options.method = "mmd-v";
  options.statistic = with_kernel("laplace@1");
  options.test.num_permutations = 19;
  const TwoSampleResult found = two_sample_test(x, y, options);
  EXPECT_NEAR(found.test.statistic, distance("mmd-v", x, y, options.statistic).statistic, 1e-10);
  EXPECT_EQ(found.test.pvalue, 0.05);  // a shift of ten standard errors of the mean
  options.statistic = with_kernel("gaussian");
  EXPECT_THROW(static_cast<void>(distance("mmd-v", x, y, options.statistic)), Error);
}

}  // namespace
}  // namespace kqd
