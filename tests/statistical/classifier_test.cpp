// Levels of the method "classifier" on 2000 true nulls each: Binomial(2000, 0.05) rejections, outside the band of
// binomial_band with a probability below 1e-6. Ties of the statistic are broken at random, so that the level is
// reached.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "scenario.hpp"
#include "support/source.hpp"

namespace kqd::validation::classifier_level {
namespace {

struct NullCase {
  std::string name;
  std::size_t nx;
  std::size_t ny;
  std::size_t dim;
  bool ties;
  bool paired = false;
};

void expect_exact(const NullCase& c) {
  Scenario scenario{.table = "classifier",
                    .row = c.name,
                    .column = "",
                    .draw =
                        [c](Seed seed) {
                          test::Source source(seed.value);
                          Sample x = test::varied_sample({c.nx, c.dim}, source, c.ties, false);
                          Sample y = test::varied_sample({c.ny, c.dim}, source, c.ties, false);
                          return Draw{std::move(x), std::move(y), c.paired ? Design::paired() : Design::independent()};
                        },
                    .options = {.method = "classifier"},
                    .expectation = {.kind = Expectation::Kind::level},
                    .runs = 2000};
  scenario.options.test.num_permutations = 99;
  scenario.options.test.randomised_ties = true;
  const Count rejections = count_rejections(scenario, scenario.runs, ThreadCount{});
  EXPECT_TRUE(meets(scenario, rejections)) << c.name << ": " << rejections.successes << " of " << scenario.runs;
}

TEST(ClassifierLevel, is_exact_for_continuous_rows_of_any_sizes) {
  expect_exact({"normal, 40 + 40", 40, 40, 3, false});
  expect_exact({"normal, 15 + 60", 15, 60, 2, false});
  expect_exact({"normal, 10 + 10, 20 columns", 10, 10, 20, false});
}

TEST(ClassifierLevel, is_exact_with_many_equal_rows) {
  expect_exact({"integers, 40 + 25", 40, 25, 1, true});
  expect_exact({"integers, 20 + 50", 20, 50, 2, true});
}

TEST(ClassifierLevel, is_exact_for_pairs) {
  expect_exact({"pairs", 40, 40, 2, false, true});
}

// HDGM, d = 10 [Liu20]: mixtures of N(0, I) and N(0.5, I), in Y with correlations 0.5 and -0.5 of the first two
// columns. A test without power would reject 16 of 20 with a probability below 1e-15.
TEST(ClassifierPower, finds_correlations_that_cancel_between_clusters) {
  std::size_t rejected = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    test::Source source(seed);
    const auto draw = [&](bool is_y) {
      Sample sample = test::normal_sample({2000, 10}, source);
      for (std::size_t i = 0; i < 2000; ++i) {
        const bool second = source.below(2) == 1;
        const auto row = sample.points.row(i);
        if (is_y) row[1] = (second ? -0.5 : 0.5) * row[0] + std::sqrt(0.75) * row[1];
        for (double& v : row) v += second ? 0.5 : 0.0;
      }
      return sample;
    };
    TwoSampleOptions options;
    options.method = "classifier";
    options.test.num_permutations = 199;
    const Sample x = draw(false);
    const Sample y = draw(true);
    rejected += two_sample_test(x, y, options).test.reject ? 1U : 0U;
  }
  EXPECT_GE(rejected, 16U);
}

}  // namespace
}  // namespace kqd::validation::classifier_level
