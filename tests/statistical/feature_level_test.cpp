// Levels of tests whose features are drawn from the pool, on 1000 true nulls each: Binomial(1000, 0.05) rejections,
// outside [20, 87] with a probability below 1e-6 (binomial_band, level_test.cpp). Fitted locations cost more: 300
// nulls.
#include <gtest/gtest.h>

#include <string>

#include "kqd/synthetic/problems.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

void expect_exact(const std::string& method, const Parameters& parameters, std::size_t runs = 1000) {
  Scenario scenario{.table = "features",
                    .row = method,
                    .column = "",
                    .draw =
                        [](Seed seed) {
                          SyntheticPair pair = make_problem(
                              {.name = "null", .n_x = 20, .n_y = 15, .dim = 3, .seed = seed}, ThreadCount{1});
                          return Draw{std::move(pair.x), std::move(pair.y)};
                        },
                    .options = {.method = method},
                    .expectation = {.kind = Expectation::Kind::level},
                    .runs = runs};
  scenario.options.statistic.parameters = parameters;
  scenario.options.test.num_permutations = 99;
  const Count rejections = count_rejections(scenario, runs, ThreadCount{});
  EXPECT_TRUE(meets(scenario, rejections)) << method << ": " << rejections.successes << " of " << runs;
}

TEST(FeatureLevel, of_random_fourier_features_is_exact) {
  expect_exact("mmd-rff", {{"features", 16}});
  expect_exact("mmd-rff", {{"features", 16}, {"form", 1}, {"orthogonal", 1}});
}

TEST(FeatureLevel, of_landmarks_from_the_pool_is_exact) {
  expect_exact("mmd-nystrom", {});
  expect_exact("mmd-nystrom", {{"sampling", 1}});
}

// Landmarks that move with the labels, one mean too large: still one function of the ordered pool and the labels.
TEST(FeatureLevel, of_the_nystrom_form_as_coded_is_exact) {
  expect_exact("mmd-nystrom", {{"form", 1}});
}

TEST(FeatureLevel, of_locations_and_frequencies_is_exact) {
  expect_exact("me", {{"locations", 3}});
  expect_exact("me", {{"locations", 3}, {"form", 0}});
  expect_exact("scf", {{"locations", 2}});
}

TEST(FeatureLevel, of_locations_fitted_on_other_rows_is_exact) {
  expect_exact("me", {{"locations", 2}, {"optimise", 1}}, 300);
  expect_exact("scf", {{"locations", 2}, {"optimise", 1}}, 300);
}

}  // namespace
}  // namespace kqd::validation
