#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "scenario.hpp"

namespace kqd::validation {

/// Finished scenarios, kept in a text file with one line each: rejections, runs, name. A line is written as soon as its
/// scenario is finished, so an interrupted run continues where it stopped.
class Results {
 public:
  /// Reads the file if there is one.
  explicit Results(std::filesystem::path file);

  /// Nothing if the scenario was not run, or with another number of runs.
  [[nodiscard]] std::optional<Count> find(const Scenario& scenario) const;
  void add(const Scenario& scenario, Count rejections);

 private:
  std::filesystem::path file_;
  std::map<std::pair<std::string, std::uint64_t>, Count> counts_;  // by name and number of runs
};

/// The finished scenarios as Markdown tables, one per Scenario::table; unexpected rates are bold.
[[nodiscard]] std::string markdown_tables(std::span<const Scenario> scenarios, const Results& results);

/// Replaces the text between the lines "<!-- tables -->" and "<!-- end of tables -->" of a page.
/// Throws Error{invalid_option} if the page has no such lines.
void write_tables(const std::filesystem::path& page, const std::string& tables);

}  // namespace kqd::validation
