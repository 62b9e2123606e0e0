#include "report/explain_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "explain/table_columns.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNamedLevels = 3;
constexpr std::size_t kNamedCells = 3;
constexpr double kSmallPart = 0.25;  // of the largest change: not worth naming next to it

std::string signed_text(double value) {
  return fmt::format("{:+.2f}", value + 0.0);
}

// "30%" with three digits, never "1e-05%".
std::string share_text(double share) {
  const double percent = 100.0 * share;
  if (percent > 0.0 && percent < 0.01) return "<0.01%";
  return percent < 1.0 ? fmt::format("{:.2g}%", percent) : fmt::format("{:.3g}%", percent);
}

std::string range_text(ColumnType type, const std::optional<ValueRange>& range) {
  if (!range) return "no value";
  return fmt::format("{} .. {}", value_text(type, range->low), value_text(type, range->high));
}

// Three digits, without an exponent for numbers that people write without one.
std::string shift_text(double shift) {
  const bool is_large = std::abs(shift) >= 1000.0 && std::abs(shift) < 1e9;
  return is_large ? fmt::format("{:+.0f}", shift) : fmt::format("{:+.3g}", shift + 0.0);
}

std::string column_text(const ColumnExplanation& column) {
  if (!column.levels.empty()) return levels_text(column.levels);
  if (column.shares) {
    return fmt::format("{} in {} of the rows", value_text(column.type, column.shares->value),
                       shares_text(column.shares->x, column.shares->y));
  }
  const std::string place =
      column.where == Where::nowhere
          ? ""
          : fmt::format(" in {}{}", column.where == Where::both_tails ? "" : "the ", to_string(column.where));
  const std::string where = column.where == Where::everywhere ? " at all levels" : place;
  if (column.type == ColumnType::date) {
    return fmt::format("dates differ{}, {} to {}", where, range_text(column.type, column.range_x),
                       range_text(column.type, column.range_y));
  }
  return fmt::format("differs{} (median {}, effect {:.2g} SD)", where, shift_text(column.shift), column.effect);
}

// A part of a relation that can be named.
std::string cell_name(const RelationCell& cell) {
  return cell.first.empty() ? cell.second : cell.first + " & " + cell.second;
}

}  // namespace

std::string shares_text(double x, double y) {
  return share_text(x) + " to " + share_text(y);
}

std::string levels_text(const std::vector<LevelShares>& levels) {
  std::string text;
  std::size_t count = 0;
  for (const LevelShares& level : levels) {
    if (count == kNamedLevels) break;
    if (count > 0 && std::abs(level.y - level.x) < kSmallPart * std::abs(levels.front().y - levels.front().x)) break;
    text += fmt::format("{}{} {}", count++ == 0 ? "" : ", ", level.name, shares_text(level.x, level.y));
  }
  const auto add = [&](std::string_view word, auto wanted) {
    std::string names;
    std::size_t num = 0;
    for (const LevelShares& level : levels) {
      if (!wanted(level) || ++num > kNamedLevels) continue;
      names += (names.empty() ? "" : ", ") + level.name;
    }
    if (num > kNamedLevels) names += fmt::format(" and {} more", num - kNamedLevels);
    if (!names.empty()) text += fmt::format("; {}: {}", word, names);
  };
  add("new", [](const LevelShares& level) { return level.x == 0.0; });
  add("vanished", [](const LevelShares& level) { return level.y == 0.0; });
  return text;
}

std::string relation_name(const RelationExplanation& relation) {
  return relation.first + (relation.kind == RelationForm::numbers ? " and " : " by ") + relation.second;
}

std::string relation_text(const RelationExplanation& relation) {
  if (relation.kind == RelationForm::numbers) {
    return fmt::format("correlation {} to {}", signed_text(relation.correlation_x),
                       signed_text(relation.correlation_y));
  }
  std::string text;
  std::size_t count = 0;
  double largest = 0.0;
  for (const RelationCell& cell : relation.cells) {
    if (count == kNamedCells) break;
    largest = std::max(largest, std::abs(cell.change));
    if (std::abs(cell.change) < kSmallPart * largest) continue;
    const std::string change = relation.kind == RelationForm::levels
                                   ? fmt::format("{:+.1f} points", 100.0 * cell.change)
                                   : signed_text(cell.change);
    text += fmt::format("{}{} in {}", count++ == 0 ? "" : ", ", change, cell_name(cell));
  }
  return text;
}

std::vector<Change> changes_of(const Explanation& explanation) {
  std::vector<Change> changes;
  for (const ColumnExplanation& column : explanation.columns) {
    if (!column.reject) continue;
    changes.push_back({"column", {column.name}, column.name + ": " + column_text(column), column.pvalue_adjusted});
  }
  for (const ColumnExplanation& column : explanation.columns) {
    if (!column.missing || !column.missing->reject) continue;
    changes.push_back(
        {"missing",
         {column.name},
         fmt::format("{} is missing in {} of the rows", column.name, shares_text(column.missing->x, column.missing->y)),
         column.missing->pvalue_adjusted});
  }
  for (const RelationExplanation& relation : explanation.relations) {
    if (!relation.reject) continue;
    changes.push_back({"relation",
                       {relation.first, relation.second},
                       relation_name(relation) + ": " + relation_text(relation),
                       relation.pvalue_adjusted});
  }
  return changes;
}

}  // namespace kqd
