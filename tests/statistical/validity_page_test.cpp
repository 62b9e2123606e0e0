#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "results.hpp"

namespace kqd::validation {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::filesystem::path kRoot = KQD_ROOT;

// Two powers are not as expected; "Notable results" of the page explains them. All levels are as expected. Counts of an
// adaptive test that is no longer the default are deleted, and the page has no cell for them until they are run again;
// neither has it for groups of rows until they are run. Other methods have all counts.
TEST(ValidityPage, has_a_count_for_every_scenario_of_the_other_methods_and_two_unexpected_powers) {
  const Results results(kRoot / "experiments/validate/results.txt");
  std::vector<std::string> unexpected;
  for (const Scenario& scenario : all_scenarios()) {
    const auto rejections = results.find(scenario);
    const bool may_be_missing = scenario.options.method == "adaptive" || scenario.table == "Groups of rows";
    if (!rejections && may_be_missing) continue;
    ASSERT_TRUE(rejections) << "not run: " << scenario.name();
    if (!meets(scenario, *rejections)) unexpected.push_back(scenario.name());
  }
  EXPECT_EQ(unexpected,
            (std::vector<std::string>{
                "Power with log n directions | power-decay, n = 200, d = 512, points set aside | e-KQD p=1",
                "Power with 50 directions | laplace-gaussian, n = 500, d = 1, reference pooled | e-KQD p=1"}));
}

// Fails if a scenario has another name or number of runs, or if a cell was edited by hand.
TEST(ValidityPage, shows_the_counts_that_are_kept) {
  const Results results(kRoot / "experiments/validate/results.txt");
  const std::filesystem::path page = std::filesystem::path(testing::TempDir()) / "kqd-validity-page.md";
  std::filesystem::copy_file(kRoot / "docs/validity.md", page, std::filesystem::copy_options::overwrite_existing);
  write_tables(page, markdown_tables(all_scenarios(), results));
  EXPECT_EQ(text_of(page), text_of(kRoot / "docs/validity.md"));
  std::filesystem::remove(page);
}

}  // namespace
}  // namespace kqd::validation
