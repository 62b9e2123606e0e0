#include "quantiles/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/source.hpp"
#include "support/targets.hpp"

namespace kqd {
namespace {

std::vector<std::size_t> lengths() {
  return {0, 1, 2, 3, 7, 8, 9, 31, 64, 100, 257, 1000, 5000};
}

// Lists that have broken sorts before: random, with many ties, with both zeros, of one value, huge and tiny.
std::vector<std::vector<double>> awkward_lists(std::size_t n, test::Source& source) {
  const auto make = [&](auto value) {
    std::vector<double> list(n);
    for (double& v : list) v = value();
    return list;
  };
  constexpr double kMax = std::numeric_limits<double>::max();
  const std::vector<double> extremes = {kMax,   -kMax,   1e300, -1e300, 3.5e38, 3.4028235e38,
                                        5e-324, -5e-324, 0.0,   -0.0,   1e-46,  -1e-46};
  return {
      make([&] { return source.normal(); }), make([&] { return static_cast<double>(source.below(3)); }),
      make([&] { return source.below(2) == 0 ? 0.0 : -0.0; }), make([&] { return 4.25; }),
      make([&] { return extremes[source.below(extremes.size())]; }),
      make([&] { return source.normal() * std::pow(10.0, source.uniform(-300, 300)); }),
      // Equal as floats, different as doubles: 1 + k 2^-40 for k < 2^10 all round to 1.
      make([&] { return 1.0 + static_cast<double>(source.below(1024)) * 0x1p-40; }),
      make([&] { return -1e-60 * source.uniform(); }),  // below the smallest float
  };
}

TEST(SortAscending, sorts_what_it_was_given_on_every_target) {
  test::for_each_target([](std::int64_t) {
    test::Source source(1);
    for (const std::size_t n : lengths()) {
      for (const auto& list : awkward_lists(n, source)) {
        std::vector<double> expected = list;
        std::ranges::sort(expected);
        std::vector<double> sorted = list;
        sort_ascending(sorted);
        ASSERT_EQ(sorted, expected) << n;
      }
    }
  });
}

// The order is unique: by value, then by index. std::stable_sort of the indices gives the same.
TEST(Argsort, is_the_stable_order_of_the_doubles_on_every_target) {
  test::for_each_target([](std::int64_t) {
    test::Source source(2);
    for (const std::size_t n : lengths()) {
      for (const auto& list : awkward_lists(n, source)) {
        std::vector<std::uint32_t> expected(n);
        std::iota(expected.begin(), expected.end(), 0U);
        std::ranges::stable_sort(expected, {}, [&](std::uint32_t i) { return list[i]; });
        std::vector<std::uint32_t> order(n);
        argsort(list, order);
        ASSERT_EQ(order, expected) << n;
      }
    }
  });
}

TEST(Argsort, orders_doubles_that_are_one_float) {
  const std::vector<double> values = {1.0 + 0x1p-50, 1.0, 1.0 - 0x1p-50, 1.0 + 0x1p-51};
  std::vector<std::uint32_t> order(4);
  argsort(values, order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{2, 1, 3, 0}));
}

TEST(Argsort, orders_values_beyond_the_range_of_float) {
  const std::vector<double> values = {2e300, 1e300, -1e300, std::numeric_limits<double>::max(), 3.4028234e38, -2e300};
  std::vector<std::uint32_t> order(6);
  argsort(values, order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{5, 2, 4, 1, 0, 3}));
}

TEST(Argsort, both_zeros_are_one_value) {
  const std::vector<double> values = {0.0, -0.0, 0.0, -0.0, -5e-324, 5e-324};
  std::vector<std::uint32_t> order(6);
  argsort(values, order);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{4, 0, 1, 2, 3, 5}));
}

}  // namespace
}  // namespace kqd
