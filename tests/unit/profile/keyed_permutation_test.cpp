#include "profile/keyed_permutation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace kqd {
namespace {

TEST(KeyedPermutation, is_a_permutation_of_its_range) {
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U, 7U, 16U, 17U, 100U, 255U, 256U, 257U, 1000U, 4097U}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const KeyedPermutation place(size, Seed{seed}, 5);
      std::set<std::uint64_t> places;
      for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t p = place(i);
        EXPECT_LT(p, size);
        EXPECT_EQ(place.number_at(p), i);
        places.insert(p);
      }
      EXPECT_EQ(places.size(), size);
    }
  }
}

TEST(KeyedPermutation, stays_inside_very_large_ranges) {
  const std::uint64_t size = (std::uint64_t{1} << 40U) + 12345;
  const KeyedPermutation place(size, Seed{1}, 0);
  std::set<std::uint64_t> places;
  for (std::uint64_t i = 0; i < 1000; ++i) places.insert(place(size - 1 - i));
  EXPECT_EQ(places.size(), 1000U);
  EXPECT_LT(*places.rbegin(), size);
}

TEST(KeyedPermutation, follows_from_seed_and_index_only) {
  const KeyedPermutation a(1000, Seed{3}, 0);
  const KeyedPermutation b(1000, Seed{3}, 0);
  const KeyedPermutation other_seed(1000, Seed{4}, 0);
  const KeyedPermutation other_index(1000, Seed{3}, 1);
  std::size_t same_seed = 0;
  std::size_t same_index = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(a(i), b(i));
    same_seed += a(i) == other_seed(i) ? 1U : 0U;
    same_index += a(i) == other_index(i) ? 1U : 0U;
  }
  EXPECT_LT(same_seed, 15U);  // Poisson with mean 1: above 14 with probability 1e-12
  EXPECT_LT(same_index, 15U);
}

// Pairs (place of 0, place of 1) over seeds: 12 cells for a range of 4, each with probability 1/12. Chi-square with 11
// degrees of freedom is above 51.9 with probability 3e-7.
TEST(KeyedPermutation, pairs_of_places_are_equally_likely) {
  constexpr std::size_t kSeeds = 12'000;
  std::vector<double> cells(16, 0.0);
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    const KeyedPermutation place(4, Seed{seed}, 0);
    cells[4 * place(0) + place(1)] += 1.0;
  }
  double chi_square = 0.0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i / 4 == i % 4) {
      EXPECT_EQ(cells[i], 0.0);
      continue;
    }
    const double expected = static_cast<double>(kSeeds) / 12.0;
    chi_square += (cells[i] - expected) * (cells[i] - expected) / expected;
  }
  EXPECT_LT(chi_square, 51.9);
}

// Neighbours are in the same tenth of the places as often as in a random permutation: 99 of 999 for a range of 1000.
TEST(KeyedPermutation, neighbours_share_a_group_as_often_as_any_two) {
  constexpr std::size_t kSeeds = 200;
  double together = 0.0;
  for (std::size_t seed = 0; seed < kSeeds; ++seed) {
    const KeyedPermutation place(1000, Seed{seed}, 0);
    for (std::uint64_t i = 0; i + 1 < 1000; i += 2) together += place(i) / 100 == place(i + 1) / 100 ? 1.0 : 0.0;
  }
  const double pairs = 500.0 * kSeeds;
  const double p = 99.0 / 999.0;
  EXPECT_NEAR(together / pairs, p, 5.2 * std::sqrt(p * (1.0 - p) / pairs));  // 5.2 standard errors: 2e-7
}

}  // namespace
}  // namespace kqd
