#include <gtest/gtest.h>

#include <algorithm>

#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kPowerRuns = 100;

struct Cell {
  std::string_view row;
  std::string_view column;
  std::string_view table = "Power with log n directions";
};

const Scenario& find(const std::vector<Scenario>& scenarios, const Cell& cell) {
  const auto found = std::ranges::find_if(scenarios, [&](const Scenario& s) {
    return s.table == cell.table && s.row == cell.row && s.column == cell.column;
  });
  EXPECT_NE(found, scenarios.end()) << cell.row << " | " << cell.column;
  return *found;
}

// Cells of tables that an independent implementation filled with 200 or 300 runs, shortened to 100 or fewer. If that
// rate is the true one, the number of rejections leaves its binomial band with a probability below 1e-6.
void expect_replicated(const Cell& cell, std::size_t runs = kPowerRuns) {
  const std::vector<Scenario> scenarios = power_scenarios();
  const Scenario& scenario = find(scenarios, cell);
  const double rate = scenario.expectation.other.rate();
  const Band band = binomial_band(runs, rate, 1e-6);
  const Count rejections = count_rejections(scenario, runs, ThreadCount{});
  EXPECT_TRUE(band.holds(rejections.successes)) << scenario.name() << ": " << rejections.successes << " of " << runs
                                                << ", expected " << band.lowest << " to " << band.highest;
}

// With reference points left in the samples this cell falls to 0.17.
TEST(Power, of_order_two_survives_high_dimension_when_reference_points_are_held_out) {
  expect_replicated({"power-decay, n = 200, d = 128, points set aside", "e-KQD p=2"});
}

// With reference points that move from permutation to permutation it falls to 0.45.
TEST(Power, against_heavier_tails_is_that_of_directions_held_fixed) {
  expect_replicated({"laplace-gaussian, n = 500, d = 1, points set aside", "e-KQD p=1"});
}

TEST(Power, of_the_supremum_with_gaussian_reference_points_is_replicated) {
  expect_replicated({"power-decay, n = 200, d = 256, Gaussian points", "sup-KQD p=1"});
}

TEST(Power, of_an_mmd_through_landmarks_is_that_of_the_corrected_form) {
  expect_replicated({"power-decay, n = 200, d = 64", "mmd-nystrom, standard", "Power with 25 landmarks"});
}

// Erratum 30: what is left of it in the authors' code.
TEST(Power, of_an_mmd_through_landmarks_falls_when_one_mean_is_divided_by_the_number_of_landmarks) {
  expect_replicated({"power-decay, n = 200, d = 64", "mmd-nystrom, as-coded", "Power with 25 landmarks"}, 50);
}

}  // namespace
}  // namespace kqd::validation
