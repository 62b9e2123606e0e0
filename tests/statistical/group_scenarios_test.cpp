#include <gtest/gtest.h>

#include <string_view>

#include "scenario.hpp"

namespace kqd::validation {
namespace {

// Scenarios of 2000 nulls shortened to 100. A correct test fails each with a probability below 1e-6; the wrong
// ones, which ignore keys or assign rows by turns, must be far above their level.
TEST(GroupScenarios, profiles_keep_the_level_and_wrong_assignments_do_not) {
  constexpr std::size_t kRuns = 100;
  std::size_t found = 0;
  std::size_t wrong = 0;
  for (const Scenario& scenario : group_scenarios()) {
    ++found;
    if (scenario.expectation.kind == Expectation::Kind::above_level) ++wrong;
    const Count rejections = count_rejections(scenario, kRuns, ThreadCount{});
    EXPECT_TRUE(meets(scenario, rejections)) << scenario.name() << ": " << rejections.successes << " of " << kRuns;
  }
  EXPECT_EQ(found, 10U);
  EXPECT_EQ(wrong, 2U);
}

}  // namespace
}  // namespace kqd::validation
