#include "experiments/study_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/results_file.hpp"
#include "kqd/io/write.hpp"
#include "kqd/report/report.hpp"
#include "kqd/version.hpp"

namespace kqd::lab {
namespace {

using Json = nlohmann::ordered_json;

// Settings that must be equal for runs to be combined.
Json identity(const Study& study, Seed seed) {
  return {{"experiment", study.id},
          {"scheme", study.scheme},
          {"seed", seed.value},
          {"settings", study.settings},
          {"version", kVersion}};
}

Json count_json(Count count) {
  return {{"rejections", count.successes}, {"runs", count.runs}, {"rate", count.rate()}};
}

Json cell_json(const Column& column, const Cell& cell, const std::optional<Count>& published) {
  const Count count = cell.count();
  const Interval interval = wilson_interval(count);
  Json json = {{"x", column.x}};
  if (!column.name.empty()) json["name"] = column.name;
  json["n"] = column.n;
  json.update(count_json(count));
  json["wilson"] = {interval.lower, interval.upper};
  if (published) json["published"] = count_json(*published);
  if (column.best) {
    json["best_published"] = {
        {"rate", column.best->rate}, {"test", column.best->test}, {"source", column.best->source}};
  }
  json["seconds"] = cell.seconds;
  json["decisions"] = cell.decisions;
  return json;
}

Json row_json(const Study& study, const StudyResults& results, std::size_t r) {
  const Row& row = study.rows[r];
  Json json = {{"id", row.id}, {"label", row.label}, {"cells", Json::array()}};
  for (std::size_t c = 0; c < study.columns.size(); ++c) {
    if (results.cell(r, c).count().runs == 0) continue;
    const auto published = row.published.empty() ? std::optional<Count>{} : row.published[c];
    json["cells"].push_back(cell_json(study.columns[c], results.cell(r, c), published));
  }
  return json;
}

Json agreement_json(const Study& study, const StudyResults& results) {
  const std::vector<CountPair> pairs = published_pairs(study, results);
  const ChiSquare all = chi_square(pairs);
  double farthest = 0.0;
  for (const auto& [ours, theirs] : pairs) {
    farthest = std::max(farthest, std::abs(standardised_difference(ours, theirs)));
  }
  return {{"cells", pairs.size()},
          {"chi_square", all.statistic},
          {"degrees", all.degrees},
          {"pvalue", all.pvalue},
          {"farthest_in_standard_errors", farthest}};
}

bool is_decisions(const std::string& text) {
  return text.find_first_not_of("01.") == std::string::npos;
}

}  // namespace

void Cell::set(std::size_t run, bool rejected) {
  if (decisions.size() <= run) decisions.resize(run + 1, '.');
  decisions[run] = rejected ? '1' : '0';
}

void Cell::add(const Cell& other) {
  if (decisions.empty()) seconds = other.seconds;
  for (std::size_t run = 0; run < other.decisions.size(); ++run) {
    if (other.has(run) && !has(run)) set(run, other.decisions[run] == '1');
  }
}

Count Cell::count() const {
  const auto number = [&](char c) { return static_cast<std::size_t>(std::ranges::count(decisions, c)); };
  return {number('1'), number('0') + number('1')};
}

StudyResults::StudyResults(const Study& study) : cells_(study.rows.size(), std::vector<Cell>(study.columns.size())) {}

bool StudyResults::has_row(std::size_t row) const {
  return std::ranges::any_of(cells_[row], [](const Cell& cell) { return cell.count().runs > 0; });
}

void StudyResults::resume(const std::string& path, const Study& study, Seed seed) {
  const Json json = read_results(path);
  if (json.is_null()) return;
  require_same(path, json, identity(study, seed));
  try {
    for (const Json& row : json.at("rows")) {
      const auto id = row.at("id").get<std::string>();
      const auto found = std::ranges::find(study.rows, id, &Row::id);
      if (found == study.rows.end())
        refuse_results(path, fmt::format("row \"{}\" is not a method of this experiment", id));
      std::vector<Cell>& cells = cells_[static_cast<std::size_t>(found - study.rows.begin())];
      for (const Json& cell : row.at("cells")) {
        const auto x = cell.at("x").get<double>();
        const auto column = std::ranges::find(study.columns, x, &Column::x);
        const auto decisions = cell.at("decisions").get<std::string>();
        if (column == study.columns.end() || !is_decisions(decisions)) {
          refuse_results(path, fmt::format("unreadable decisions of {} at {}", id, x));
        }
        cells[static_cast<std::size_t>(column - study.columns.begin())].add(
            {decisions, cell.at("seconds").get<double>()});
      }
    }
  } catch (const Json::exception&) {
    refuse_results(path, "incomplete results");
  }
}

void StudyResults::save(const std::string& path, const Study& study, Seed seed) {
  const ResultsLock lock(path);
  resume(path, study, seed);  // adds what another process has written meanwhile
  Json json = {{"schema", "kqd.experiment/1"}};
  json.update(identity(study, seed));
  json["title"] = study.title;
  json["axis"] = study.axis;
  json["level"] = kLevel;
  json["comparison"] = study.comparison;
  json["agreement"] = agreement_json(study, *this);
  json["simd"] = simd_name();
  json["rows"] = Json::array();
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    if (has_row(r)) json["rows"].push_back(row_json(study, *this, r));
  }
  write_text(path, json.dump(1) + "\n");
}

std::vector<CountPair> published_pairs(const Study& study, const StudyResults& results) {
  std::vector<CountPair> pairs;
  for (std::size_t r = 0; r < study.rows.size(); ++r) {
    const auto& published = study.rows[r].published;
    for (std::size_t c = 0; c < published.size(); ++c) {
      const Count count = results.cell(r, c).count();
      if (published[c] && count.runs > 0) pairs.push_back({count, *published[c]});
    }
  }
  return pairs;
}

}  // namespace kqd::lab
