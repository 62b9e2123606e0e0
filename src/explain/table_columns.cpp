#include "explain/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/text.hpp"

namespace kqd {
namespace {

constexpr std::string_view kMissing = "missing";

std::string before_equals(const std::string& name) {
  return name.substr(0, name.find('='));
}

std::string after_equals(const std::string& name) {
  const auto place = name.find('=');
  return place == std::string::npos ? name : name.substr(place + 1);
}

void take_names_from_columns(TableColumn& column, const std::function<std::string(std::size_t)>& name_of) {
  if (column.is_category()) column.type = ColumnType::category;
  if (column.value) {
    column.name = name_of(*column.value);
  } else if (!column.levels.empty()) {
    column.name = before_equals(name_of(column.levels.front()));
  } else if (column.missing) {
    column.name = name_of(*column.missing);
  }
}

void take_level_names(TableColumn& column, std::span<const std::string> given,
                      const std::function<std::string(std::size_t)>& name_of) {
  for (std::size_t k = 0; k < column.levels.size(); ++k) {
    column.level_names.push_back(given.size() == column.levels.size() ? given[k]
                                                                      : after_equals(name_of(column.levels[k])));
  }
}

std::string date_text(double days) {
  constexpr double kMostDays = 1e7;  // the calendar of <chrono> ends in the year 32767
  constexpr double kMinutes = 24.0 * 60.0;
  if (!(std::abs(days) < kMostDays)) return shortest(days);
  const double minutes = std::round(days * kMinutes);
  const double whole = std::floor(minutes / kMinutes);
  const std::chrono::year_month_day date{
      std::chrono::sys_days{std::chrono::days{static_cast<std::chrono::days::rep>(whole)}}};
  const int minute = static_cast<int>(minutes - whole * kMinutes);
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return minute == 0 ? text : text + fmt::format("T{:02}:{:02}", minute / 60, minute % 60);
}

}  // namespace

std::vector<TableColumn> table_columns(std::size_t dim, std::span<const ColumnRole> roles,
                                       std::span<const ColumnSource> sources,
                                       const std::function<std::string(std::size_t)>& name_of) {
  std::vector<TableColumn> columns;
  if (roles.empty()) {
    for (std::size_t c = 0; c < dim; ++c) columns.push_back({.name = name_of(c), .value = c});
    return columns;
  }
  std::map<std::size_t, std::size_t> place_of;  // of a source among the columns
  std::vector<std::size_t> source_of;
  for (std::size_t c = 0; c < dim; ++c) {
    const auto [found, is_new] = place_of.emplace(roles[c].source, columns.size());
    if (is_new) {
      columns.emplace_back();
      source_of.push_back(roles[c].source);
    }
    TableColumn& column = columns[found->second];
    if (roles[c].kind == ColumnKind::number) column.value = c;
    if (roles[c].kind == ColumnKind::level) column.levels.push_back(c);
    if (roles[c].kind == ColumnKind::missing) column.missing = c;
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const bool known = source_of[k] < sources.size();
    if (known) {
      columns[k].name = sources[source_of[k]].name;
      columns[k].type = sources[source_of[k]].type;
    } else {
      take_names_from_columns(columns[k], name_of);
    }
    take_level_names(
        columns[k], known ? std::span<const std::string>(sources[source_of[k]].levels) : std::span<const std::string>(),
        name_of);
  }
  return columns;
}

Marks::Marks(const Pool& pool) : thresholds_(pool.dim(), 0.5) {
  std::vector<double> low(pool.dim(), std::numeric_limits<double>::infinity());
  std::vector<double> high(pool.dim(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    for (std::size_t c = 0; c < row.size(); ++c) {
      low[c] = std::min(low[c], row[c]);
      high[c] = std::max(high[c], row[c]);
    }
  }
  for (std::size_t c = 0; c < thresholds_.size(); ++c) {
    if (low[c] < high[c]) thresholds_[c] = 0.5 * low[c] + 0.5 * high[c];
  }
}

LevelCodes level_codes(const TableColumn& column, const Pool& pool, const Marks& marks) {
  LevelCodes codes;
  codes.names = column.level_names;
  const auto other = static_cast<std::uint16_t>(codes.names.size());
  const auto missing = static_cast<std::uint16_t>(other + 1);
  bool any_other = false;
  bool any_missing = false;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    std::uint16_t code = other;
    for (std::size_t k = 0; k < column.levels.size() && code == other; ++k) {
      if (marks.is_set(row, column.levels[k])) code = static_cast<std::uint16_t>(k);
    }
    if (column.missing && marks.is_set(row, *column.missing)) code = missing;
    any_other = any_other || code == other;
    any_missing = any_missing || code == missing;
    codes.of_row.push_back(code);
  }
  if (any_other) codes.names.emplace_back("other");
  if (any_missing) {
    const auto last = static_cast<std::uint16_t>(codes.names.size());
    codes.names.emplace_back(kMissing);
    codes.last_is_missing = true;
    std::ranges::replace(codes.of_row, missing, last);
  }
  return codes;
}

std::string cell_text(const TableColumn& column, std::span<const double> row, const Marks& marks) {
  if (column.missing && marks.is_set(row, *column.missing)) return "";
  if (column.value) return value_text(column.type, row[*column.value]);
  for (std::size_t k = 0; k < column.levels.size(); ++k) {
    if (marks.is_set(row, column.levels[k])) return column.level_names[k];
  }
  return "other";
}

std::string value_text(ColumnType type, double value) {
  if (type == ColumnType::date) return date_text(value);
  if (type == ColumnType::boolean && (value == 0.0 || value == 1.0)) return value == 1.0 ? "true" : "false";
  return shortest(value);
}

}  // namespace kqd
