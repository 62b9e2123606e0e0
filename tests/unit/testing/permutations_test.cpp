#include "kqd/testing/permutations.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <map>
#include <set>
#include <string>

#include "testing/enumeration.hpp"
#include "testing/permutation_run.hpp"
#include "testing/random_labels.hpp"
#include "unit/testing/toy_plans.hpp"

namespace kqd {
namespace {

using Labels = std::string;  // 'x' or 'y' per position

Labels labels_of(const LabelBatch& batch, unsigned b) {
  Labels labels(batch.num_rows(), 'y');
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (batch.is_x(i, b)) labels[i] = 'x';
  }
  return labels;
}

Labels observed_labels(SampleSizes sizes, const std::vector<std::size_t>& row_order) {
  Labels labels;
  for (const std::size_t row : row_order) labels += row < sizes.x ? 'x' : 'y';
  return labels;
}

struct Case {
  const char* name;
  Design design;
  SampleSizes sizes;
  std::vector<std::size_t> row_order;
  std::uint64_t permutation_count;  // worked out by hand
};

// Rows out of order, and in the restricted designs some of them held out.
const Case kEqualSizes = {"equal sizes", Design::independent(), {3, 3}, {5, 0, 3, 2, 4, 1}, 20};
const Case kUnequalSizes = {"unequal sizes", Design::independent(), {3, 7}, {9, 1, 8, 2, 7, 0, 6, 3, 5, 4}, 120};
const Case kMostlyX = {"mostly X", Design::independent(), {7, 3}, {9, 1, 8, 2, 7, 0, 6, 3, 5, 4}, 120};
const Case kRareLabel = {"rare label", Design::independent(), {1, 69}, test::rows_in_order(70), 70};
const Case kPairs = {"pairs", Design::paired(), {5, 5}, {9, 1, 8, 3, 6, 4, 2, 7}, 16};
const Case kBlocks = {"blocks",
                      Design::blocks({7, 7, 7, -2, 4, /* Y */ 7, 7, -2, -2, 9, 9}),
                      {5, 6},
                      {10, 5, 2, 3, 6, 8, 7, 0, 9, 4},  // row 1 held out: 2 of 4 in block 7, 1 of 3 in block -2
                      18};
const Case kClusters = {"clusters",
                        Design::clusters({1, 1, 1, 2, 5, 5, /* Y */ 3, 3, 3, 4, 6, 6, 6}),
                        {6, 7},
                        // Cluster 5 held out: 1 of 3 clusters of three rows, 1 of 2 of one row.
                        {12, 0, 11, 1, 2, 8, 3, 9, 6, 10, 7},
                        6};

std::vector<Case> all_cases() {
  return {kEqualSizes, kUnequalSizes, kMostlyX, kRareLabel, kPairs, kBlocks, kClusters};
}

PermutationSource source_of(const Case& c, Seed seed = Seed{11}) {
  return PermutationSource(c.design, c.sizes, c.row_order, seed);
}

PermutationSource independent_source(SampleSizes sizes) {
  return PermutationSource(Design::independent(), sizes, test::rows_in_order(sizes.total()), Seed{11});
}

// The rules of each design, read from its definition: what a permutation keeps of the observed one.
std::map<std::int64_t, std::size_t> kept_counts(const Case& c, const Labels& labels) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::size_t row = c.row_order[i];
    switch (c.design.kind) {
      case DesignKind::independent:
        counts[0] += labels[i] == 'x';
        break;
      case DesignKind::paired:
        counts[static_cast<std::int64_t>(row % c.sizes.x)] += labels[i] == 'x';
        break;
      case DesignKind::blocks:
        counts[c.design.group_ids[row]] += labels[i] == 'x';
        break;
      case DesignKind::clusters:
        break;
    }
  }
  if (c.design.kind == DesignKind::clusters) {
    std::map<std::int64_t, std::set<char>> labels_of_cluster;
    std::map<std::int64_t, std::int64_t> size_of_cluster;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels_of_cluster[c.design.group_ids[c.row_order[i]]].insert(labels[i]);
      ++size_of_cluster[c.design.group_ids[c.row_order[i]]];
    }
    for (const auto& [cluster, used] : labels_of_cluster) {
      counts[-1] += used.size() > 1;  // torn clusters
      counts[size_of_cluster[cluster]] += used == std::set<char>{'x'};
    }
  }
  return counts;
}

TEST(PermutationSource, permutation_zero_is_the_observed_one_in_both_modes) {
  for (const Case& c : all_cases()) {
    const PermutationSource source = source_of(c);
    LabelBatch batch;
    for (const PermutationMode mode : {PermutationMode::random, PermutationMode::enumerated}) {
      source.fill(mode, 0, 3, batch);
      EXPECT_EQ(labels_of(batch, 0), observed_labels(c.sizes, c.row_order)) << c.name;
    }
  }
}

TEST(PermutationSource, batches_state_their_counts_and_keep_unused_bits_zero) {
  for (const Case& c : all_cases()) {
    const PermutationSource source = source_of(c);
    LabelBatch batch;
    for (const unsigned count : {64U, 5U}) {
      source.fill(PermutationMode::random, 1, count, batch);
      EXPECT_EQ(batch.count, count);
      ASSERT_EQ(batch.num_rows(), c.row_order.size());
      for (unsigned b = 0; b < 64; ++b) {
        const Labels labels = labels_of(batch, b);
        EXPECT_EQ(batch.num_x[b], static_cast<std::size_t>(std::ranges::count(labels, 'x'))) << c.name;
        EXPECT_TRUE(b < count || batch.num_x[b] == 0) << c.name;
      }
    }
  }
}

TEST(PermutationSource, enumeration_lists_each_allowed_permutation_exactly_once) {
  for (const Case& c : all_cases()) {
    const PermutationSource source = source_of(c);
    EXPECT_EQ(source.permutation_count(), c.permutation_count) << c.name;
    std::set<Labels> seen;
    LabelBatch batch;
    for (std::uint64_t first = 0; first < c.permutation_count; first += 64) {
      const auto count = static_cast<unsigned>(std::min<std::uint64_t>(64, c.permutation_count - first));
      source.fill(PermutationMode::enumerated, first / 64, count, batch);
      for (unsigned b = 0; b < count; ++b) {
        EXPECT_EQ(kept_counts(c, labels_of(batch, b)), kept_counts(c, observed_labels(c.sizes, c.row_order))) << c.name;
        EXPECT_TRUE(seen.insert(labels_of(batch, b)).second) << c.name;
      }
    }
    EXPECT_EQ(seen.size(), c.permutation_count) << c.name;
  }
}

// Pearson's statistic of equal cell probabilities, and the bound it exceeds with probability 1e-6.
void expect_uniform(const std::map<std::string, std::size_t>& counts, std::uint64_t num_cells, std::size_t num_draws,
                    const char* name) {
  const double expected = static_cast<double>(num_draws) / static_cast<double>(num_cells);
  ASSERT_GE(expected, 40.0) << "too few draws for the chi-square distribution";
  double statistic = static_cast<double>(num_cells - counts.size()) * expected;  // cells never seen
  for (const auto& [cell, count] : counts) {
    const double gap = static_cast<double>(count) - expected;
    statistic += gap * gap / expected;
  }
  const boost::math::chi_squared distribution(static_cast<double>(num_cells - 1));
  EXPECT_LE(counts.size(), num_cells) << name;
  EXPECT_LT(statistic, quantile(complement(distribution, 1e-6))) << name;
  EXPECT_GT(statistic, quantile(distribution, 1e-6)) << name << ": more even than chance";
}

void expect_uniform_permutations(const PermutationSource& source, const char* name) {
  const std::uint64_t num_batches = 1000 + 50 * source.permutation_count() / 64;
  std::map<std::string, std::size_t> counts;
  LabelBatch batch;
  for (std::uint64_t k = 1; k <= num_batches; ++k) {
    source.fill(PermutationMode::random, k, 64, batch);
    for (unsigned b = 0; b < 64; ++b) ++counts[labels_of(batch, b)];
  }
  expect_uniform(counts, source.permutation_count(), num_batches * 64, name);
}

TEST(PermutationSource, random_permutations_are_uniform_over_all_permutations) {
  for (const Case& c : all_cases()) expect_uniform_permutations(source_of(c), c.name);
}

// Two rare marks among 130 rows are placed by corrections only, most of six among twelve by fair bits.
TEST(PermutationSource, random_permutations_are_uniform_with_few_and_with_many_corrections) {
  for (const SampleSizes sizes : {SampleSizes{2, 128}, SampleSizes{4, 14}, SampleSizes{15, 3}, SampleSizes{6, 6}}) {
    expect_uniform_permutations(independent_source(sizes), "larger");
  }
}

TEST(PermutationSource, permutations_of_one_batch_are_independent_of_each_other) {
  for (const SampleSizes sizes : {SampleSizes{2, 2}, SampleSizes{1, 4}}) {
    const PermutationSource source = independent_source(sizes);
    const std::uint64_t num_cells = source.permutation_count() * source.permutation_count();
    std::map<std::string, std::size_t> counts;
    LabelBatch batch;
    const std::uint64_t num_batches = 5000;
    for (std::uint64_t k = 1; k <= num_batches; ++k) {
      source.fill(PermutationMode::random, k, 64, batch);
      ++counts[labels_of(batch, 0) + labels_of(batch, 1)];
      ++counts[labels_of(batch, 31) + labels_of(batch, 63)];
    }
    expect_uniform(counts, num_cells, 2 * num_batches, "neighbours");
  }
}

// Each row is X in a Binomial(draws, nx/N) number of permutations. All 3000 rows stay within the normal bound that one
// of them leaves with probability 1e-6 together (Bonferroni): no place of a large pool is treated differently.
TEST(PermutationSource, every_row_of_a_large_pool_is_x_equally_often) {
  for (const std::size_t num_x : {1500UL, 1000UL, 2987UL, 20UL}) {
    const std::size_t num_rows = 3000;
    const PermutationSource source = independent_source({num_x, num_rows - num_x});
    std::vector<double> times_x(num_rows);
    LabelBatch batch;
    const int num_batches = 300;
    for (std::uint64_t k = 1; k <= num_batches; ++k) {
      source.fill(PermutationMode::random, k, 64, batch);
      for (std::size_t i = 0; i < num_rows; ++i) times_x[i] += std::popcount(batch.words[i]);
    }
    const double share = static_cast<double>(num_x) / static_cast<double>(num_rows);
    const double draws = 64.0 * num_batches;
    const double z = quantile(complement(boost::math::normal(), 1e-6 / static_cast<double>(2 * num_rows)));
    for (std::size_t i = 0; i < num_rows; ++i) {
      EXPECT_NEAR(times_x[i], draws * share, z * std::sqrt(draws * share * (1.0 - share))) << num_x << " row " << i;
    }
  }
}

TEST(PermutationSource, a_permutation_depends_on_seed_and_number_only) {
  for (const Case& c : all_cases()) {
    LabelBatch whole;
    LabelBatch part;
    source_of(c).fill(PermutationMode::random, 3, 64, whole);
    source_of(c).fill(PermutationMode::random, 3, 17, part);
    for (unsigned b = 0; b < 17; ++b) EXPECT_EQ(labels_of(part, b), labels_of(whole, b)) << c.name;
    LabelBatch other_seed;
    source_of(c, Seed{12}).fill(PermutationMode::random, 3, 64, other_seed);
    EXPECT_NE(other_seed.words, whole.words) << c.name;
  }
}

TEST(PermutationRun, gives_the_same_permutations_however_they_are_cut_and_on_any_number_of_threads) {
  for (const Case& c : all_cases()) {
    const PermutationSource source = source_of(c);
    for (const std::uint64_t enumeration_limit : {0U, 20'000U}) {
      std::vector<Labels> expected;
      for (const std::size_t max_batches : {100UL, 1UL, 2UL, 5UL}) {
        for (const unsigned threads : {1U, 3U, 8U}) {
          PermutationRun run(source, 399, enumeration_limit);
          std::vector<Labels> permutations;
          while (run.num_done() < run.permutation_count()) {
            for (const LabelBatch& batch : run.next(max_batches, ThreadCount{threads})) {
              for (unsigned b = 0; b < batch.count; ++b) permutations.push_back(labels_of(batch, b));
            }
            EXPECT_EQ(permutations.size(), run.num_done());
          }
          EXPECT_EQ(permutations.size(), enumeration_limit > 0 ? c.permutation_count : 400) << c.name;
          if (expected.empty()) expected = permutations;
          EXPECT_EQ(permutations, expected) << c.name;
        }
      }
    }
  }
}

TEST(PermutationRun, enumerates_when_the_permutations_are_few) {
  const PermutationSource source = source_of(kUnequalSizes);  // 120 permutations
  EXPECT_TRUE(PermutationRun(source, 9, 120).enumerated());
  EXPECT_FALSE(PermutationRun(source, 9, 119).enumerated());
  EXPECT_TRUE(PermutationRun(source, 120, 1).enumerated());
  EXPECT_FALSE(PermutationRun(source, 999, 0).enumerated());
}

TEST(CountBits, agrees_with_counting_one_by_one) {
  for (const std::size_t length : {0UL, 1UL, 7UL, 8UL, 9UL, 1000UL}) {
    std::vector<std::uint64_t> words(length);
    RandomStream(Seed{5}, Purpose::test_data).fill(words);
    const auto counts = count_bits_by_column(words);
    for (unsigned b = 0; b < 64; ++b) {
      std::size_t count = 0;
      for (const std::uint64_t word : words) count += (word >> b) & 1U;
      EXPECT_EQ(counts[b], count);
    }
  }
}

TEST(BinomialCoefficient, is_exact_up_to_the_last_that_fits_and_saturates_beyond) {
  EXPECT_EQ(binomial_coefficient(0, 0), 1U);
  EXPECT_EQ(binomial_coefficient(5, 7), 0U);
  EXPECT_EQ(binomial_coefficient(52, 5), 2'598'960U);
  EXPECT_EQ(binomial_coefficient(67, 33), 14'226'520'737'620'288'370ULL);
  const std::uint64_t most = ~std::uint64_t{0};
  EXPECT_EQ(binomial_coefficient(68, 34), most);
  EXPECT_EQ(binomial_coefficient(2'000'000, 1'000'000), most);
  EXPECT_EQ(binomial_coefficient(most, 1), most);
  std::vector<Stratum> pairs(63, Stratum{0, 2, 1});
  EXPECT_EQ(count_permutations(pairs), std::uint64_t{1} << 63U);
  pairs.push_back({0, 2, 1});
  EXPECT_EQ(count_permutations(pairs), most);
}

}  // namespace
}  // namespace kqd
