#include "core/summation.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

TEST(CompensatedSum, keeps_what_a_plain_sum_loses) {
  EXPECT_EQ(sum(std::vector<double>{1.0, 1e100, 1.0, -1e100}), 2.0);
  EXPECT_EQ(sum(std::vector<double>{1e16, 1.0, 1.0}), 1e16 + 2.0);
  EXPECT_EQ(sum(std::vector<double>{}), 0.0);
  EXPECT_EQ(sum(std::vector<double>{-0.25}), -0.25);
}

// Ten million times 0.1: the exact sum of that double is 10^7 fl(0.1), and the answer is its rounding.
TEST(CompensatedSum, is_exact_to_rounding_over_ten_million_terms) {
  CompensatedSum total;
  for (int i = 0; i < 10'000'000; ++i) total.add(0.1);
  const test::Real exact = test::Real{1e7} * 0.1;
  EXPECT_TRUE(test::within(total.value(), exact, 2 * test::kUnit * exact));
}

// Neumaier: |error| <= 2 u |sum| + n^2 u^2 sum |v| at worst; the oracle's own n 2^-64 sum |v| on top.
TEST(CompensatedSum, does_not_depend_on_the_order_beyond_two_roundings) {
  test::Source source(1);
  std::vector<double> values(10'000);
  for (double& v : values) v = source.normal() * std::pow(10.0, source.uniform(-8, 8));
  test::Real exact = 0;
  test::Real size = 0;
  for (const double v : values) {
    exact += v;
    size += std::abs(v);
  }
  const auto n = static_cast<test::Real>(values.size());
  const test::Real bound =
      2 * test::kUnit * std::abs(exact) + (n * n * test::kUnit * test::kUnit + n * 0x1p-64L) * size;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<double> shuffled;
    for (const std::size_t i : test::shuffled(values.size(), source)) shuffled.push_back(values[i]);
    EXPECT_TRUE(test::within(sum(shuffled), exact, bound));
  }
}

// k terms over n equal terms are k/n, rounded once, whatever the terms are.
TEST(CompensatedSum, quotients_of_sums_are_rounded_once) {
  for (const double term : {1.0, 0.1, 1.0 / 3.0, 1e-200, 1.2345e200}) {
    for (const int n : {3, 10, 49, 1000}) {
      CompensatedSum total;
      for (int i = 0; i < n; ++i) total.add(term);
      CompensatedSum part;
      for (int k = 1; k <= n; ++k) {
        part.add(term);
        ASSERT_EQ(part.over(total), static_cast<double>(k) / n) << term << " " << k << "/" << n;
      }
    }
  }
}

TEST(ScaledNearOne, changes_no_digit) {
  for (const double scale : {1.0, 0x1p1020, 0x1p-1060}) {
    const std::vector<double> values = {3 * scale, 0.0, 5 * scale};
    EXPECT_EQ(scaled_near_one(values), (std::vector<double>{0.75, 0.0, 1.25})) << scale;
  }
}

}  // namespace
}  // namespace kqd
