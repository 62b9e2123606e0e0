#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace kqd {
namespace {

// Philox4x32-10 with counter 0 and key 0 is 6627e8d5 e169c58d bc57ac4c 9b00dbd8 [Sal11]; purpose 0 keeps the counter 0.
TEST(RandomStream, reproduces_the_published_philox_vector) {
  RandomStream stream(Seed{0}, static_cast<Purpose>(0), 0);
  EXPECT_EQ(stream.bits64(), 0xe169c58d6627e8d5ULL);
  EXPECT_EQ(stream.bits64(), 0x9b00dbd8bc57ac4cULL);
}

TEST(RandomStream, fill_yields_the_words_of_bits64) {
  for (const std::size_t already_drawn : {0U, 1U, 2U, 5U}) {
    for (const std::size_t length : {0U, 1U, 2U, 3U, 64U, 65U}) {
      RandomStream one_by_one(Seed{3}, Purpose::test_data, 9);
      RandomStream at_once = one_by_one;
      for (std::size_t i = 0; i < already_drawn; ++i) EXPECT_EQ(one_by_one.bits64(), at_once.bits64());
      std::vector<std::uint64_t> words(length);
      at_once.fill(words);
      for (const std::uint64_t word : words) EXPECT_EQ(word, one_by_one.bits64()) << already_drawn << " " << length;
      EXPECT_EQ(at_once.bits64(), one_by_one.bits64()) << "the stream goes on where fill ended";
    }
  }
}

TEST(RandomStream, streams_with_different_addresses_share_no_number) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0ULL, 1ULL, 1ULL << 40U}) {
    for (const Purpose purpose : {Purpose::coefficients, Purpose::reference_points}) {
      for (const std::uint64_t index : {0ULL, 1ULL, 1ULL << 33U}) {
        RandomStream stream(Seed{seed}, purpose, index);
        for (int k = 0; k < 100; ++k, ++drawn) seen.insert(stream.bits64());
      }
    }
  }
  EXPECT_EQ(seen.size(), drawn);
}

// Phi(z) by erfc is the oracle: it shares no code with the polynomials of AS 241.
TEST(NormalQuantile, inverts_the_normal_distribution_function) {
  for (const double p : {1e-300, 1e-20, 1e-6, 0.01, 0.074, 0.076, 0.3, 0.5, 0.77, 0.925, 0.999, 1.0 - 1e-12}) {
    const double z = normal_quantile(p);
    const double back = 0.5 * std::erfc(-z / std::sqrt(2.0));
    // dp = phi(z) dz, so a relative error of 1e-15 in z moves p by about z^2 1e-15.
    EXPECT_NEAR(back / p, 1.0, 4e-15 * (1.0 + z * z)) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
}

// Mean 0, variance 1, fourth moment 3; each within five standard errors of a million draws.
TEST(RandomStream, normal_moments) {
  RandomStream stream(Seed{7}, Purpose::test_data, 0);
  const int n = 1'000'000;
  double m1 = 0, m2 = 0, m4 = 0;
  for (int i = 0; i < n; ++i) {
    const double z = stream.normal();
    m1 += z;
    m2 += z * z;
    m4 += z * z * z * z;
  }
  EXPECT_NEAR(m1 / n, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(m2 / n, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(m4 / n, 3.0, 5.0 * std::sqrt(96.0 / n));
}

// Chi-square with 6 degrees of freedom exceeds 42.7 with probability below 1.4e-7.
TEST(RandomStream, below_is_uniform) {
  RandomStream stream(Seed{3}, Purpose::test_data, 1);
  std::vector<double> counts(7, 0.0);
  const int n = 700'000;
  for (int i = 0; i < n; ++i) counts[stream.below(7)] += 1.0;
  double chi2 = 0;
  for (const double c : counts) chi2 += (c - n / 7.0) * (c - n / 7.0) / (n / 7.0);
  EXPECT_LT(chi2, 42.7);
}

// Both roads (dense and sparse) must give distinct members, and the same distribution: here all 20 ordered pairs of 5.
TEST(SampleWithoutReplacement, every_ordered_subset_is_equally_likely) {
  std::vector<double> counts(25, 0.0);
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    RandomStream stream(Seed{11}, Purpose::test_data, static_cast<std::uint64_t>(i));
    const auto pair = sample_without_replacement(5, 2, stream);
    counts[5 * pair[0] + pair[1]] += 1.0;
  }
  double chi2 = 0;
  for (std::size_t i = 0; i < 25; ++i) {
    if (i % 6 == 0) {
      EXPECT_EQ(counts[i], 0.0);
      continue;
    }
    chi2 += (counts[i] - n / 20.0) * (counts[i] - n / 20.0) / (n / 20.0);
  }
  EXPECT_LT(chi2, 73.0);  // 19 degrees of freedom, probability below 1e-7
}

TEST(SampleWithoutReplacement, sparse_and_dense_roads_give_distinct_members_in_range) {
  for (const std::size_t count : {0UL, 1UL, 50UL, 100UL, 1000UL}) {
    RandomStream stream(Seed{5}, Purpose::test_data, count);
    auto chosen = sample_without_replacement(1000, count, stream);
    EXPECT_EQ(chosen.size(), count);
    EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), count);
    for (const std::size_t i : chosen) EXPECT_LT(i, 1000U);
  }
}

}  // namespace
}  // namespace kqd
