#include "kqd/two_sample/pairwise_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/source.hpp"
#include "support/warnings.hpp"

namespace kqd {
namespace {

// A, B and C are alike, D is shifted.
struct FourSamples {
  FourSamples() {
    test::Source source(3);
    for (std::size_t i = 0; i < 4; ++i) samples.push_back(test::normal_sample({30, 2}, source, i == 3 ? 2.0 : 0.0));
    views.assign(samples.begin(), samples.end());
  }
  std::vector<Sample> samples;
  std::vector<SampleView> views;
  std::vector<std::string> names = {"A", "B", "C", "D"};
};

TwoSampleOptions permutations(std::int64_t count) {
  TwoSampleOptions options;
  options.test.num_permutations = count;
  return options;
}

TEST(PairwiseTests, are_the_tests_of_each_pair_with_the_shared_settings) {
  const FourSamples four;
  for (const std::string method : {"ekqd", "mmd", "sw"}) {
    const DistanceMatrix matrix = distance_matrix(four.views, four.names, {.method = method, .statistic = {}});
    const PairwiseTests tests = pairwise_tests(four.views, matrix, permutations(199));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(tests.pvalues(i, i), 1.0);
      for (std::size_t j = i + 1; j < 4; ++j) {
        TwoSampleOptions options = permutations(199);
        options.method = method;
        options.statistic = matrix.shared;
        const TwoSampleResult only = two_sample_test(four.views[i], four.views[j], options);
        EXPECT_EQ(tests.pvalues(i, j), only.test.pvalue) << method;
        EXPECT_NEAR(only.test.statistic, matrix.values(i, j), 1e-6 * std::abs(matrix.values(i, j))) << method;
      }
    }
  }
}

TEST(PairwiseTests, find_the_sample_that_differs_and_no_other) {
  const FourSamples four;
  const DistanceMatrix matrix = distance_matrix(four.views, four.names);
  const PairwiseTests tests = pairwise_tests(four.views, matrix, permutations(999));
  EXPECT_EQ(tests.num_pairs, 6U);
  EXPECT_EQ(tests.num_rejected, 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(tests.adjusted(i, 3), 6.0 / 1000.0);
  EXPECT_TRUE(tests.warnings.empty());
}

TEST(PairwiseTests, say_when_there_are_too_few_permutations_for_the_pairs) {
  const FourSamples four;
  const DistanceMatrix matrix = distance_matrix(four.views, four.names);
  const PairwiseTests tests = pairwise_tests(four.views, matrix, permutations(99));
  EXPECT_EQ(tests.warnings, test::only(WarningId::few_permutations_for_pairs, 0.01, 6, 0.05, 119));
  EXPECT_EQ(tests.num_rejected, 0U);
  EXPECT_TRUE(pairwise_tests(four.views, matrix, permutations(119)).warnings.empty());
}

// Under the null hypothesis every test is exact by itself. 200 matrices of three samples of one distribution: 600 tests
// at level 0.05 with 19 permutations; those of one matrix depend on each other, so matrices are counted. The chance
// that any of three tests rejects is at most 0.15: more than 58 of 200 have probability below 1e-6 (Binomial(200,
// 0.15)).
TEST(PairwiseTests, keep_their_level_with_settings_drawn_from_all_samples) {
  test::Source source(77);
  TwoSampleOptions options = permutations(19);
  DistanceMatrixOptions shared;
  shared.statistic.directions = {.num_directions = 4, .num_reference = 4};
  int any_rejected = 0;
  int any_adjusted = 0;
  const std::vector<std::string> names = {"A", "B", "C"};
  for (std::uint64_t run = 0; run < 200; ++run) {
    std::vector<Sample> samples;
    for (const std::size_t rows : {12U, 15U, 20U}) samples.push_back(test::normal_sample({rows, 2}, source));
    const std::vector<SampleView> views(samples.begin(), samples.end());
    shared.statistic.seed = Seed{run};
    const DistanceMatrix matrix = distance_matrix(views, names, shared);
    const PairwiseTests tests = pairwise_tests(views, matrix, options);
    any_rejected += std::ranges::any_of(tests.pvalues.values(), [](double p) { return p <= 0.05; }) ? 1 : 0;
    any_adjusted += tests.num_rejected > 0 ? 1 : 0;
  }
  EXPECT_LE(any_rejected, 58);
  EXPECT_EQ(any_adjusted, 0);  // 3 * 0.05 > 0.05: 19 permutations cannot reject after adjustment
}

TEST(PairwiseTests, show_progress_over_all_pairs) {
  const FourSamples four;
  const DistanceMatrix matrix = distance_matrix(four.views, four.names);
  std::vector<double> fractions;
  const RunControl control{.progress = [&](const ProgressReport& at) {
    EXPECT_EQ(at.total, 6.0);
    fractions.push_back(at.fraction());
  }};
  (void)pairwise_tests(four.views, matrix, permutations(99), &control);
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
  EXPECT_EQ(fractions.back(), 1.0);
}

}  // namespace
}  // namespace kqd
