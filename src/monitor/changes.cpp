#include "monitor/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "kqd/testing/pvalue.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostRelations = 5;

// A column of the table, by the strongest of its columns of numbers.
struct TableColumn {
  MonitoredColumn shown;
  double pvalue = 1.0;  // for all columns of numbers of this column of the table
};

// The difference of the shares of 1.
double change_of_share(const ColumnExplanation& column) {
  if (!column.profile) return column.wasserstein;
  const auto& difference = column.profile->difference;
  return std::accumulate(difference.begin(), difference.end(), 0.0) < 0.0 ? -column.wasserstein : column.wasserstein;
}

class TableOf {
 public:
  explicit TableOf(const std::optional<TableEncoding>& encoding) : encoding_(encoding) {
    if (!encoding || encoding->roles.empty()) return;
    std::map<std::size_t, std::size_t> levels_so_far;
    for (const ColumnRole& role : encoding->roles) {
      const ColumnEncoding& column = encoding->columns[role.source];
      std::string level;
      if (role.kind == ColumnKind::missing) level = "(missing)";
      if (role.kind == ColumnKind::level) {
        const std::size_t k = levels_so_far[role.source]++;
        level = column.hashed ? fmt::format("#{}", k + 1) : column.levels[k];
      }
      levels_.push_back(std::move(level));
    }
  }

  [[nodiscard]] const std::string& name_of(const std::string& sample_column) const {
    const std::size_t k = index_of(sample_column);
    return k < levels_.size() ? encoding_->columns[encoding_->roles[k].source].name : sample_column;
  }
  [[nodiscard]] std::string level_of(const std::string& sample_column) const {
    const std::size_t k = index_of(sample_column);
    return k < levels_.size() ? levels_[k] : "";
  }

 private:
  [[nodiscard]] std::size_t index_of(const std::string& sample_column) const {
    if (levels_.empty()) return levels_.size();
    const auto& names = encoding_->sample_columns;
    return std::min(static_cast<std::size_t>(std::ranges::find(names, sample_column) - names.begin()), levels_.size());
  }

  const std::optional<TableEncoding>& encoding_;
  std::vector<std::string> levels_;  // of each column of numbers
};

// In the order of the strongest. Several tests of one column are adjusted by their number.
std::vector<TableColumn> columns_of(const Explanation& explanation, const TableOf& table) {
  std::vector<TableColumn> columns;
  std::vector<double> numbers;
  for (const ColumnExplanation& own : explanation.columns) {
    const std::string& name = table.name_of(own.name);
    const auto found = std::ranges::find(columns, name, [](const TableColumn& c) { return c.shown.name; });
    if (found != columns.end()) {  // weaker, because columns are sorted
      numbers[static_cast<std::size_t>(found - columns.begin())] += 1.0;
      continue;
    }
    const std::string level = table.level_of(own.name);
    const double shift = level.empty() ? own.shift : change_of_share(own);
    columns.push_back({{.name = name, .level = level, .effect = own.effect, .shift = shift}, own.pvalue});
    numbers.push_back(1.0);
  }
  std::vector<double> pvalues;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k].pvalue = std::min(1.0, columns[k].pvalue * numbers[k]);
    pvalues.push_back(columns[k].pvalue);
  }
  const std::vector<double> adjusted = benjamini_hochberg_adjusted(pvalues);
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k].shown.pvalue_adjusted = adjusted[k];
  return columns;
}

// Those of two columns of the table, neither of which differs by itself.
std::vector<MonitoredRelation> relations_of(const Explanation& explanation, const TableOf& table,
                                            const std::vector<TableColumn>& columns) {
  const auto differs = [&](const std::string& name) {
    return std::ranges::any_of(columns, [&](const TableColumn& column) {
      return column.shown.name == name && column.shown.pvalue_adjusted <= explanation.alpha;
    });
  };
  std::vector<MonitoredRelation> relations;
  for (const RelationExplanation& own : explanation.relations) {
    const std::string& first = table.name_of(own.first);
    const std::string& second = table.name_of(own.second);
    if (!own.reject || first == second || differs(first) || differs(second)) continue;
    const bool known = std::ranges::any_of(
        relations, [&](const MonitoredRelation& r) { return r.first == first && r.second == second; });
    if (!known && relations.size() < kMostRelations) {
      relations.push_back({first, second, own.score, own.pvalue_adjusted});
    }
  }
  return relations;
}

}  // namespace

void describe_change(const Explanation& explanation, const std::optional<TableEncoding>& encoding,
                     MonitorEntry& entry) {
  const TableOf table(encoding);
  const std::vector<TableColumn> columns = columns_of(explanation, table);
  entry.relations = relations_of(explanation, table, columns);
  double smallest = explanation.columns_note.empty() ? explanation.alpha : 0.0;
  for (const TableColumn& column : columns) {
    if (column.shown.pvalue_adjusted <= smallest && entry.changed.empty()) {
      entry.changed = column.shown.name;
      smallest = column.shown.pvalue_adjusted;
    }
    entry.columns.push_back(column.shown);
  }
  if (!entry.relations.empty() && (entry.changed.empty() || entry.relations.front().pvalue_adjusted < smallest)) {
    entry.changed = fmt::format("{} with {}", entry.relations.front().first, entry.relations.front().second);
  }
  if (entry.changed.empty()) {
    const auto found = std::ranges::find_if(explanation.directions, &DirectionExplanation::reject);
    if (found != explanation.directions.end()) entry.changed = found->name;
  }
  std::ranges::sort(entry.columns, {}, &MonitoredColumn::name);
}

}  // namespace kqd
