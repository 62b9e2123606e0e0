#include "metrics/adaptive/table_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace kqd {
namespace {

// The lower and the higher value of a column; nothing unless it has two.
struct TwoValues {
  double low = 0.0;
  double high = 0.0;
};

std::optional<TwoValues> two_values(const Pool& rows, std::size_t column) {
  const double first = rows.row(0)[column];
  std::optional<double> second;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double value = rows.row(i)[column];
    if (value == first || (second && value == *second)) continue;
    if (second) return std::nullopt;
    second = value;
  }
  if (!second) return std::nullopt;
  return TwoValues{std::min(first, *second), std::max(first, *second)};
}

// The end of the shortest run of columns from `begin` on, two or more, of which every row has the higher value in
// exactly one; `begin` if there is none.
std::size_t end_of_category(const Pool& rows, const std::vector<std::optional<TwoValues>>& columns, std::size_t begin) {
  std::vector<bool> has_level(rows.size(), false);
  std::size_t num_with_level = 0;
  for (std::size_t k = begin; k < columns.size() && columns[k]; ++k) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.row(i)[k] != columns[k]->high) continue;
      if (has_level[i]) return begin;
      has_level[i] = true;
      ++num_with_level;
    }
    if (num_with_level == rows.size()) return k + 1;
  }
  return begin;
}

// Columns of a category by its source; a mark of missing values belongs to it.
std::map<std::size_t, std::vector<std::size_t>> columns_of_categories(std::span<const ColumnRole> roles,
                                                                      const std::vector<std::size_t>& columns) {
  std::set<std::size_t> sources;
  for (const ColumnRole& role : roles) {
    if (role.kind == ColumnKind::level) sources.insert(role.source);
  }
  std::map<std::size_t, std::vector<std::size_t>> found;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const ColumnRole& role = roles[columns[k]];
    if (role.kind != ColumnKind::number && sources.contains(role.source)) found[role.source].push_back(k);
  }
  return found;
}

}  // namespace

bool TableParts::mixed() const {
  return std::ranges::any_of(parts, [](const TablePart& part) { return part.kind != ColumnKind::number; });
}

std::size_t TableParts::num_sources() const {
  std::set<std::size_t> sources;
  for (const TablePart& part : parts) sources.insert(part.source);
  return sources.size();
}

std::vector<std::size_t> TableParts::columns_of(ColumnKind kind) const {
  std::vector<std::size_t> columns;
  for (const TablePart& part : parts) {
    if (part.kind == kind) columns.insert(columns.end(), part.columns.begin(), part.columns.end());
  }
  std::ranges::sort(columns);
  return columns;
}

std::vector<ColumnRole> roles_of_columns(const Pool& rows, std::span<const ColumnRole> given) {
  if (!given.empty()) return {given.begin(), given.end()};
  std::vector<std::optional<TwoValues>> columns(rows.dim());
  std::vector<ColumnRole> roles = roles_of_numbers(rows.dim());
  for (std::size_t k = 0; k < roles.size(); ++k) columns[k] = two_values(rows, k);
  for (std::size_t k = 0; k < roles.size();) {
    const std::size_t end = columns[k] ? end_of_category(rows, columns, k) : k;
    for (std::size_t j = k; j < end; ++j) roles[j] = {ColumnKind::level, k};
    k = std::max(k + 1, end);
  }
  return roles;
}

std::vector<ColumnRole> roles_of_numbers(std::size_t num_columns) {
  std::vector<ColumnRole> roles(num_columns);
  for (std::size_t k = 0; k < num_columns; ++k) roles[k].source = k;
  return roles;
}

TableParts table_parts(std::span<const ColumnRole> roles, const std::vector<std::size_t>& columns) {
  TableParts made;
  for (const auto& [source, own] : columns_of_categories(roles, columns)) {
    made.parts.push_back({ColumnKind::level, source, own});
  }
  std::map<std::size_t, std::size_t> mark_of_source;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const ColumnRole& role = roles[columns[k]];
    const auto is_own = [&](const TablePart& part) { return part.source == role.source; };
    if (role.kind != ColumnKind::missing || std::ranges::any_of(made.parts, is_own)) continue;
    mark_of_source[role.source] = k;
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const ColumnRole& role = roles[columns[k]];
    if (role.kind == ColumnKind::number) made.parts.push_back({ColumnKind::number, role.source, {k}});
  }
  for (const auto& [source, mark] : mark_of_source) {
    made.parts.push_back({ColumnKind::missing, source, {mark}});
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const ColumnRole& role = roles[columns[k]];
      if (role.kind != ColumnKind::number || role.source != source) continue;
      made.marks.of_columns.resize(columns.size(), MissingMarks::kNone);
      made.marks.of_columns[k] = mark;
    }
  }
  return made;
}

std::vector<LevelColumn> level_columns(const Pool& rows, const TableParts& parts) {
  std::vector<std::size_t> columns = parts.columns_of(ColumnKind::level);
  const std::vector<std::size_t> of_marks = parts.columns_of(ColumnKind::missing);
  columns.insert(columns.end(), of_marks.begin(), of_marks.end());
  std::vector<LevelColumn> made(rows.dim());
  // Row by row, as the rows lie in memory.
  for (const std::size_t k : columns) made[k].low = made[k].high = rows.row(0)[k];
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (const std::size_t k : columns) {
      made[k].low = std::min(made[k].low, row[k]);
      made[k].high = std::max(made[k].high, row[k]);
    }
  }
  std::vector<std::size_t> counts(rows.dim(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (const std::size_t k : columns) counts[k] += row[k] == made[k].high ? 1U : 0U;
  }
  for (const std::size_t k : columns) {
    made[k].share = static_cast<double>(counts[k]) / static_cast<double>(rows.size());
  }
  return made;
}

TablePart most_frequent(const TablePart& part, std::size_t most, const std::vector<LevelColumn>& levels) {
  TablePart kept = part;
  if (kept.columns.size() <= most) return kept;
  std::ranges::sort(kept.columns, [&](std::size_t a, std::size_t b) {
    return levels[a].share != levels[b].share ? levels[a].share > levels[b].share : a < b;
  });
  kept.columns.resize(most);
  std::ranges::sort(kept.columns);
  return kept;
}

void scale_parts(const Pool& rows, std::span<const ColumnRole> roles, std::vector<ColumnScale>& scales) {
  constexpr double kLeastVariety = 0.25;  // the probability that two rows differ in a category of one frequent level
  constexpr double kStepOfMarks = 2.0;    // between rows with and without a value, as between any two values
  std::vector<std::size_t> all(rows.dim());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<LevelColumn> levels = level_columns(rows, table_parts(roles, all));
  std::vector<std::size_t> columns;
  for (const ColumnScale& scale : scales) columns.push_back(scale.column);
  for (const TablePart& part : table_parts(roles, columns).parts) {
    if (part.kind == ColumnKind::number) continue;
    const bool is_mark = part.kind == ColumnKind::missing;
    double alike = 0.0;
    for (const std::size_t k : part.columns) alike += levels[columns[k]].share * levels[columns[k]].share;
    const double step = is_mark ? kStepOfMarks : 1.0 / std::sqrt(std::max(kLeastVariety, 1.0 - alike));
    for (const std::size_t k : part.columns) {
      ColumnScale& scale = scales[k];
      if (is_mark) {
        scale.exponent = 0;
        scale.center = 0.0;
      }
      scale.scale = std::scalbn(levels[columns[k]].width(), -scale.exponent) / step;
    }
  }
}

}  // namespace kqd
