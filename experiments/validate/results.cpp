#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/fail.hpp"

namespace kqd::validation {
namespace {

constexpr std::string_view kBegin = "<!-- tables -->\n";
constexpr std::string_view kEnd = "<!-- end of tables -->\n";

// ".050", or with the rate it is compared with ".950 (.947)" or ".973 (>= .80)"; bold if it is not as expected.
std::string cell(const Scenario& scenario, Count rejections) {
  std::string text = fmt::format("{:.4g}", rejections.rate());
  if (scenario.expectation.kind == Expectation::Kind::replicates) {
    text += fmt::format(" ({:.3g})", scenario.expectation.other.rate());
  } else if (scenario.expectation.kind == Expectation::Kind::at_least) {
    text += fmt::format(" (>= {:.2g})", scenario.expectation.at_least);
  }
  return meets(scenario, rejections) ? text : "**" + text + "**";
}

// Appends a value to a list unless the list contains it.
void note(std::vector<std::string>& list, const std::string& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

std::string markdown_table(const std::string& title, std::span<const Scenario> scenarios, const Results& results) {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::string, std::string>, std::string> cells;
  for (const Scenario& scenario : scenarios) {
    const auto rejections = results.find(scenario);
    if (scenario.table != title || !rejections) continue;
    note(rows, scenario.row);
    note(columns, scenario.column);
    cells[{scenario.row, scenario.column}] = cell(scenario, *rejections);
  }
  std::string text = fmt::format("### {}\n\n| |", title);
  for (const std::string& column : columns) text += fmt::format(" {} |", column);
  text += "\n|---|";
  for (std::size_t k = 0; k < columns.size(); ++k) text += "---|";
  text += "\n";
  for (const std::string& row : rows) {
    text += fmt::format("| {} |", row);
    for (const std::string& column : columns) text += fmt::format(" {} |", cells[{row, column}]);
    text += "\n";
  }
  return text;
}

}  // namespace

Results::Results(std::filesystem::path file) : file_(std::move(file)) {
  if (std::filesystem::exists(file_) && !std::filesystem::is_regular_file(file_)) {
    fail(ErrorCode::unreadable_input, "{}: is not a file", file_.string());
  }
  std::ifstream in(file_);
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    Count count;
    std::string name;
    if (!(words >> count.successes >> count.runs >> std::ws && std::getline(words, name)) ||
        count.successes > count.runs) {
      fail(ErrorCode::unreadable_input, "{}:{}: \"{}\", expected rejections, runs and a name", file_.string(), number,
           line);
    }
    counts_[{name, count.runs}] = count;
  }
}

std::optional<Count> Results::find(const Scenario& scenario) const {
  const auto found = counts_.find({scenario.name(), scenario.runs});
  if (found == counts_.end()) return std::nullopt;
  return found->second;
}

void Results::add(const Scenario& scenario, Count rejections) {
  if (file_.has_parent_path()) std::filesystem::create_directories(file_.parent_path());
  std::ofstream out(file_, std::ios::app);
  out << rejections.successes << ' ' << rejections.runs << ' ' << scenario.name() << std::endl;
  if (!out) fail(ErrorCode::unwritable_output, "{}: cannot be written", file_.string());
  counts_[{scenario.name(), rejections.runs}] = rejections;
}

std::string markdown_tables(std::span<const Scenario> scenarios, const Results& results) {
  std::vector<std::string> titles;
  for (const Scenario& scenario : scenarios) {
    if (results.find(scenario)) note(titles, scenario.table);
  }
  std::string text;
  for (const std::string& title : titles) text += markdown_table(title, scenarios, results) + "\n";
  return text;
}

void write_tables(const std::filesystem::path& page, const std::string& tables) {
  std::ifstream in(page);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    fail(ErrorCode::invalid_option, "{}: has no place for tables", page.string());
  }
  const std::size_t first = begin + kBegin.size();
  text.replace(first, end - first, "\n" + tables);
  std::ofstream out(page);
  out << text;
  if (!out) fail(ErrorCode::unwritable_output, "{}: cannot be written", page.string());
}

}  // namespace kqd::validation
