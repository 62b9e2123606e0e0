#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kNulls = 2000;

// Scenarios of the page with 2000 nulls each: rejections are Binomial(2000, 0.05), outside the band of meets() with a
// probability below 1e-6. With weights or whole clusters exchanged whatever their sizes, these reject up to 0.96.
void expect_level(std::string_view table, std::string_view row, std::string_view method) {
  std::size_t found = 0;
  for (const Scenario& scenario : weight_scenarios()) {
    if (scenario.table != table || !scenario.row.starts_with(row) || scenario.options.method != method) continue;
    ++found;
    const Count rejections = count_rejections(scenario, kNulls, ThreadCount{});
    EXPECT_TRUE(meets(scenario, rejections)) << scenario.name() << ": " << rejections.successes << " of " << kNulls;
  }
  EXPECT_GE(found, 1U) << table << " | " << row << " | " << method;
}

TEST(Weights, as_precision_keep_the_level_when_they_differ_between_the_samples) {
  expect_level("Weights", "precision, lognormal against 1, 20 + 100", "energy");
  expect_level("Weights", "precision, lognormal against 1, 20 + 100", "mmd");
  expect_level("Weights", "precision, lognormal against 1, 100 + 20", "energy");
}

TEST(Weights, as_sampling_keep_the_level_when_they_depend_on_the_values) {
  expect_level("Weights", "sampling", "energy");
}

TEST(Clusters, of_different_sizes_keep_the_level) {
  expect_level("Cluster sizes", "20 clusters of 5 rows, 20 of 1", "adaptive");
  expect_level("Cluster sizes", "", "energy");
}

// Lognormal weights of X against ones in Y are refused, in small samples too; weights of one distribution hardly ever:
// by chance each of three comparisons has no value as extreme among 999 permutations with probability 0.001, so the
// number refused is at most Binomial(2000, 0.003), above 20 with a probability below 1e-6.
TEST(Weights, are_refused_when_they_differ_and_not_when_they_are_exchangeable) {
  const auto refused = [](std::size_t nx, std::size_t ny, bool alike, std::uint64_t run) {
    RandomStream stream(Seed{run}, Purpose::test_data);
    Sample x{Matrix<double>(nx, 1), {}, {}};
    Sample y{Matrix<double>(ny, 1), {}, {}};
    for (Sample* sample : {&x, &y}) {
      for (double& value : sample->points.values()) {
        value = stream.normal();
        const double weight = std::exp(stream.normal());
        sample->weights.push_back(alike || sample == &x ? weight : 1.0);
      }
    }
    TwoSampleOptions options{.method = "energy"};
    options.statistic.seed = Seed{run};
    options.statistic.threads = ThreadCount{1};
    options.test.num_permutations = 1;
    try {
      static_cast<void>(two_sample_test(x, y, options));
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_weights);
      return true;
    }
  };
  std::size_t different = 0;
  for (std::uint64_t run = 0; run < 200; ++run)
    different += refused(20, 100, false, run) && refused(20, 20, false, run);
  EXPECT_EQ(different, 200U);
  std::size_t alike = 0;
  for (std::uint64_t run = 0; run < kNulls; ++run) alike += refused(20, 60, true, run);
  EXPECT_LE(alike, 20U);
}

}  // namespace
}  // namespace kqd::validation
