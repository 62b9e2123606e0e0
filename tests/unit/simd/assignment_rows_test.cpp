#include "simd/assignment_rows.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/random.hpp"
#include "each_target.hpp"
#include "support/source.hpp"

namespace kqd::simd {
namespace {

using test::kInfinity;

// Whole numbers, so that differences are exact and there are ties.
std::vector<double> whole_numbers(std::size_t n, RandomStream& stream) {
  std::vector<double> values(n);
  for (double& v : values) v = static_cast<double>(stream.below(9));
  return values;
}

TwoSmallest plain_two_smallest(std::span<const double> costs, std::span<const double> prices) {
  TwoSmallest found;
  for (std::size_t j = 0; j < costs.size(); ++j) {
    const double value = costs[j] - prices[j];
    if (value < found.smallest) {
      found.second = found.smallest;
      found.second_at = found.smallest_at;
      found.smallest = value;
      found.smallest_at = j;
    } else if (value < found.second) {
      found.second = value;
      found.second_at = j;
    }
  }
  return found;
}

TEST(AssignmentRows, find_the_two_smallest_like_the_plain_loop) {
  test::on_each_target([] {
    for (const std::size_t n : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 16U, 19U, 35U, 64U, 101U}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream stream(Seed{seed}, Purpose::test_data, n);
        const auto costs = whole_numbers(n, stream);
        const auto prices = whole_numbers(n, stream);
        const TwoSmallest expected = plain_two_smallest(costs, prices);
        const TwoSmallest found = two_smallest(costs, prices);
        EXPECT_EQ(found.smallest, expected.smallest);
        EXPECT_EQ(found.smallest_at, expected.smallest_at) << n;
        EXPECT_EQ(found.second, expected.second);
        // With three or more equal ones any of the others is second.
        if (n > 1) {
          EXPECT_EQ(costs[found.second_at] - prices[found.second_at], expected.second) << n;
          EXPECT_NE(found.second_at, found.smallest_at);
        }
      }
    }
  });
}

TEST(AssignmentRows, relax_columns_like_the_plain_loop) {
  test::on_each_target([] {
    for (const std::size_t n : {1U, 3U, 4U, 5U, 8U, 9U, 19U, 67U}) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream stream(Seed{seed}, Purpose::test_data, n);
        const auto costs = whole_numbers(n, stream);
        const auto prices = whole_numbers(n, stream);
        std::vector<double> distances = whole_numbers(n, stream);
        std::vector<double> closed(n, 0.0);
        for (double& c : closed) c = stream.below(3) == 0 ? kInfinity : 0.0;
        for (double& d : distances) {
          if (stream.below(3) == 0) d = kInfinity;
        }
        std::vector<std::int64_t> reached_by(n, -1);
        std::vector<double> expected_distances = distances;
        std::vector<std::int64_t> expected_by = reached_by;
        Nearest expected;
        for (std::size_t j = 0; j < n; ++j) {
          if (closed[j] > 0.0) continue;
          if (3.0 + costs[j] - prices[j] < expected_distances[j]) {
            expected_distances[j] = 3.0 + costs[j] - prices[j];
            expected_by[j] = 42;
          }
          if (expected_distances[j] < expected.distance) expected = {expected_distances[j], j};
        }
        const Nearest found = relax_columns(costs, prices, 3.0, 42, closed, distances, reached_by);
        EXPECT_EQ(distances, expected_distances);
        EXPECT_EQ(reached_by, expected_by);
        EXPECT_EQ(found.distance, expected.distance);
        if (expected.distance < kInfinity) {
          EXPECT_EQ(found.column, expected.column) << n;
        }
      }
    }
  });
}

}  // namespace
}  // namespace kqd::simd
