#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "results.hpp"

namespace kqd::validation {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A scenario that got another name or number of runs, or a cell edited by hand, would be seen here.
TEST(ValidityPage, shows_the_counts_that_are_kept_and_all_are_as_expected) {
  const std::filesystem::path root = KQD_ROOT;
  const Results results(root / "validate/results.txt");
  const auto scenarios = all_scenarios();
  std::size_t num_levels = 0;
  for (const Scenario& scenario : scenarios) {
    const auto rejections = results.find(scenario);
    ASSERT_TRUE(rejections) << "not run: " << scenario.name();
    EXPECT_TRUE(meets(scenario, *rejections)) << scenario.name();
    const Expectation::Kind kind = scenario.expectation.kind;
    num_levels += kind == Expectation::Kind::level || kind == Expectation::Kind::at_most_level ? 1U : 0U;
  }
  EXPECT_GE(num_levels, 289U);

  const std::filesystem::path page = std::filesystem::path(testing::TempDir()) / "kqd-validity-page.md";
  std::filesystem::copy_file(root / "docs/validity.md", page, std::filesystem::copy_options::overwrite_existing);
  write_tables(page, markdown_tables(scenarios, results));
  EXPECT_EQ(text_of(page), text_of(root / "docs/validity.md"));
  std::filesystem::remove(page);
}

}  // namespace
}  // namespace kqd::validation
