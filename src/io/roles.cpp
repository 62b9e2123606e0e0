#include "io/roles.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// The column of weights, units or groups, by its name, or by its number where there are no names; none if none is
// wanted.
std::optional<std::size_t> find_column(const Table& table, const std::string& wanted, std::string_view purpose) {
  if (wanted.empty()) return std::nullopt;
  if (table.has_names) {
    const auto found = std::ranges::find(table.columns, wanted, &Column::name);
    if (found != table.columns.end()) return static_cast<std::size_t>(found - table.columns.begin());
  } else {
    std::size_t number = 0;
    const char* const last = wanted.data() + wanted.size();
    const bool is_number = std::from_chars(wanted.data(), last, number).ptr == last;
    if (is_number && number >= 1 && number <= table.columns.size()) return number - 1;
  }
  fail_at(ErrorCode::invalid_option, table.source,
          fmt::format("there is no column {} to {}", in_quotes(wanted), purpose), expected_columns(table, wanted));
}

Roles special_roles(const Table& table, const ReadOptions& options, const std::string& group_column) {
  Roles roles;
  roles.weights = find_column(table, options.weights_column, "take weights from");
  roles.unit = find_column(table, options.unit_column, "take blocks or clusters from");
  roles.group = find_column(table, group_column, "split the samples by");
  return roles;
}

// The purpose of a column that is not compared; empty for a column of points.
std::string_view purpose_of(const Roles& roles, std::size_t column) {
  if (roles.weights == column) return "weights";
  if (roles.unit == column) return "blocks or clusters";
  return roles.group == column ? "groups" : "";
}

// A user who lists such a column expects it to be compared.
void note_listed(const Input& input, const std::vector<bool>& in_wanted, Warnings& notes) {
  for (std::size_t j = 0; j < in_wanted.size(); ++j) {
    const std::string_view part = purpose_of(input.roles, j);
    if (part.empty() || !in_wanted[j]) continue;
    warn(notes, WarningId::listed_column_not_compared, input.table.source, input.table.label_of(j), part);
  }
}

void assign_points(Input& input, ColumnList& wanted, ColumnList& unwanted) {
  const std::vector<bool> in_wanted = wanted.marks(input.table);
  const std::vector<bool> in_unwanted = unwanted.marks(input.table);
  for (std::size_t j = 0; j < input.table.columns.size(); ++j) {
    const bool chosen = (wanted.empty() || in_wanted[j]) && !in_unwanted[j];
    if (chosen && purpose_of(input.roles, j).empty()) input.roles.points.push_back(j);
  }
}

void check_points(const Input& input) {
  if (!input.roles.points.empty()) return;
  if (input.table.columns.size() == 1 && input.roles.weights) {
    fail_at(ErrorCode::empty_sample, input.table.source, "the only column holds the weights",
            "other columns to compare");
  }
  fail_at(ErrorCode::empty_sample, input.table.source,
          fmt::format("none of the {} columns is left to compare", input.table.columns.size()), "at least one");
}

// The item of a list of columns that means a column without a name: its number, if that means this column. Numbers are
// those in X, and a name takes precedence over a number.
std::string item_for_unnamed(const Table& x, std::size_t j) {
  const std::string number = std::to_string(j + 1);
  const bool in_x = x.has_names && j < x.columns.size() && x.columns[j].name.empty();
  return in_x && std::ranges::find(x.columns, number, &Column::name) == x.columns.end() ? number : R"("")";
}

void check_named(const Input& input, const Table& x) {
  for (const std::size_t j : input.roles.points) {
    if (!input.table.has_names || !input.table.columns[j].name.empty()) continue;
    fail_at(
        ErrorCode::unreadable_input, input.table.source, fmt::format("column {} has no name", j + 1), "a name",
        fmt::format("To exclude it, if it is a row index: {}; to list the columns to compare: " KQD_OPTION("columns"),
                    option_reference("drop", item_for_unnamed(x, j))));
  }
}

std::vector<std::string_view> names_of_points(const Input& input) {
  std::vector<std::string_view> names;
  for (const std::size_t column : input.roles.points) names.push_back(input.table.columns[column].name);
  return names;
}

std::string describe_excess(const Table& table, const std::vector<std::string_view>& names) {
  return names.empty() ? "" : fmt::format("; only {} has {}", table.source, list_of(names));
}

// The columns of y's points in the order of x's, found by their names.
std::vector<std::size_t> match_by_name(const Input& x, const Input& y) {
  std::unordered_map<std::string_view, std::size_t> unmatched;
  for (const std::size_t column : y.roles.points) unmatched.emplace(y.table.columns[column].name, column);
  std::vector<std::size_t> matched;
  std::vector<std::string_view> only_x;
  for (const std::string_view name : names_of_points(x)) {
    if (const auto found = unmatched.find(name); found != unmatched.end()) {
      matched.push_back(found->second);
      unmatched.erase(found);
    } else {
      only_x.push_back(name);
    }
  }
  if (only_x.empty() && unmatched.empty()) return matched;
  std::vector<std::string_view> only_y = names_of_points(y);
  std::erase_if(only_y, [&](std::string_view name) { return !unmatched.contains(name); });
  fail_at(
      ErrorCode::shape_mismatch, fmt::format("{} and {}", x.table.source, y.table.source),
      fmt::format("their columns differ{}{}", describe_excess(x.table, only_x), describe_excess(y.table, only_y)), "",
      "Rename columns, exclude these by " KQD_OPTION("drop") ", or list those to compare by " KQD_OPTION("columns"));
}

void match_columns(const Input& x, Input& y, Warnings& notes) {
  if (x.table.has_names && y.table.has_names) {
    std::vector<std::size_t> matched = match_by_name(x, y);
    if (matched != y.roles.points) {
      warn(notes, WarningId::columns_reordered, y.table.source, x.table.source);
    }
    y.roles.points = std::move(matched);
    return;
  }
  if (x.roles.points.size() != y.roles.points.size()) {
    fail(ErrorCode::shape_mismatch, "{} has {} column{} of points and {} has {}, expected the same number",
         x.table.source, x.roles.points.size(), x.roles.points.size() == 1 ? "" : "s", y.table.source,
         y.roles.points.size());
  }
  if (x.table.has_names != y.table.has_names) {
    const Table& named = x.table.has_names ? x.table : y.table;
    const Table& bare = x.table.has_names ? y.table : x.table;
    warn(notes, WarningId::columns_by_position, bare.source, named.source);
  }
}

}  // namespace

void assign_roles(std::vector<Input>& inputs, const ReadOptions& options, const std::string& group_column,
                  Warnings& notes) {
  ColumnList wanted("columns", options.columns);
  ColumnList unwanted("drop", options.drop);
  for (ColumnList* list : {&wanted, &unwanted}) list->pin_positions(inputs.front().table);
  for (Input& input : inputs) {
    input.roles = special_roles(input.table, options, group_column);
    assign_points(input, wanted, unwanted);
  }
  for (const ColumnList* list : {&wanted, &unwanted}) list->check_all_found(inputs.front().table);
  check_points(inputs.front());
  note_listed(inputs.front(), wanted.marks(inputs.front().table), notes);
  for (const Input& input : inputs) check_named(input, inputs.front().table);
  for (std::size_t i = 1; i < inputs.size(); ++i) match_columns(inputs.front(), inputs[i], notes);
}

}  // namespace kqd
