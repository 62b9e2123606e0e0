#include "kqd/io/read.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/fail.hpp"
#include "io/readers.hpp"
#include "io/table.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNamesListed = 8;

// Which columns of a table become what.
struct Roles {
  std::vector<std::size_t> points;  // in the order they shall have
  std::optional<std::size_t> weights;
};

ReaderOptions reader_options_of(const ReadOptions& options) {
  return {{}, options.csv, options.threads, options.map_files};
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    if (shown.size() == kNamesListed) break;
    shown.push_back(in_quotes(name));
  }
  const std::size_t rest = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

std::size_t find_weights_by_name(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) {
    fail(ErrorCode::invalid_option, "{}: no column {} to take weights from, the columns are {}", table.source,
         in_quotes(name), list_of(names_of(table)));
  }
  return static_cast<std::size_t>(found - table.columns.begin());
}

std::size_t find_weights_by_number(const Table& table, const std::string& number) {
  std::size_t column = 0;
  const char* last = number.data() + number.size();
  const bool is_number = std::from_chars(number.data(), last, column).ptr == last;
  if (!is_number || column < 1 || column > table.cells.cols()) {
    fail(ErrorCode::invalid_option,
         "{}: no column {} to take weights from, the columns have no names, expected a number from 1 to {}",
         table.source, in_quotes(number), table.cells.cols());
  }
  return column - 1;
}

Roles assign_roles(const Table& table, const ReadOptions& options) {
  Roles roles;
  roles.points.resize(table.cells.cols());
  std::iota(roles.points.begin(), roles.points.end(), std::size_t{0});
  const std::string& wanted = options.weights_column;
  if (wanted.empty()) return roles;
  roles.weights = table.has_names ? find_weights_by_name(table, wanted) : find_weights_by_number(table, wanted);
  std::erase(roles.points, *roles.weights);
  if (roles.points.empty()) {
    fail(ErrorCode::empty_sample, "{}: the only column holds the weights, expected others with the points",
         table.source);
  }
  return roles;
}

// The refusal of a cell that is no number: where it stands, and what it is.
[[noreturn]] void fail_cell(ErrorCode code, const Table& table, std::size_t column, const Place& place) {
  const bool too_large = parse_cell(place.text).kind == CellKind::out_of_range;
  fail(code, "{} is {}, expected a number{}", table.place_of(column, place.line), in_quotes(place.text),
       too_large ? " that fits into a double (below 1.8e308)" : "");
}

void check_column(const Table& table, std::size_t j) {
  const Column& column = table.columns[j];
  if (column.first_infinite.line > 0) fail_cell(ErrorCode::non_finite_value, table, j, column.first_infinite);
  if (column.first_missing.line > 0) fail_cell(ErrorCode::non_finite_value, table, j, column.first_missing);
  if (!column.has_text()) return;
  const TextDictionary::Entry& first = (*column.texts)[0];
  fail_cell(ErrorCode::unreadable_input, table, j, {first.line, std::string(first.text)});
}

// The cells as they are, when they are all points in their order and stand in one matrix already.
Matrix<double> take_matrix(Table& table, const Roles& roles) {
  const bool all = roles.points.size() == table.cells.cols() && std::ranges::is_sorted(roles.points);
  return all ? table.cells.take_whole() : Matrix<double>();
}

Sample to_sample(Table table, const Roles& roles) {
  for (const std::size_t j : roles.points) check_column(table, j);
  if (roles.weights) check_column(table, *roles.weights);
  Sample sample{take_matrix(table, roles), {}, {}};
  if (sample.points.empty()) sample.points = Matrix<double>(table.cells.rows(), roles.points.size());
  if (roles.weights) sample.weights.reserve(table.cells.rows());
  table.cells.drain([&](std::size_t first_row, MatrixView<const double> block) {
    for (std::size_t i = 0; i < block.rows(); ++i) {
      const auto from = block.row(i);
      std::ranges::transform(roles.points, sample.points.row(first_row + i).begin(),
                             [&](std::size_t column) { return from[column]; });
      if (roles.weights) sample.weights.push_back(from[*roles.weights]);
    }
  });
  if (table.has_names) {
    for (const std::size_t column : roles.points) sample.column_names.push_back(std::move(table.columns[column].name));
  }
  // The readers vouch for the points, and no one yet for the weights; here the file can still be named.
  if (roles.weights) validate(sample, table.source);
  return sample;
}

std::vector<std::string_view> names_of_points(const Table& table, const Roles& roles) {
  std::vector<std::string_view> names;
  for (const std::size_t column : roles.points) names.push_back(table.columns[column].name);
  return names;
}

std::string describe_excess(const Table& table, const std::vector<std::string_view>& names) {
  return names.empty() ? "" : fmt::format("; only {} has {}", table.source, list_of(names));
}

// The columns of y's points in the order of x's, found by their names.
std::vector<std::size_t> match_by_name(const Table& x, const Roles& roles_x, const Table& y, const Roles& roles_y) {
  std::unordered_map<std::string_view, std::size_t> unmatched;
  for (const std::size_t column : roles_y.points) unmatched.emplace(y.columns[column].name, column);
  std::vector<std::size_t> matched;
  std::vector<std::string_view> only_x;
  for (const std::string_view name : names_of_points(x, roles_x)) {
    if (const auto found = unmatched.find(name); found != unmatched.end()) {
      matched.push_back(found->second);
      unmatched.erase(found);
    } else {
      only_x.push_back(name);
    }
  }
  if (only_x.empty() && unmatched.empty()) return matched;
  std::vector<std::string_view> only_y = names_of_points(y, roles_y);
  std::erase_if(only_y, [&](std::string_view name) { return !unmatched.contains(name); });
  fail(ErrorCode::shape_mismatch, "{} and {} have different columns{}{}; make the names agree or drop these columns",
       x.source, y.source, describe_excess(x, only_x), describe_excess(y, only_y));
}

void match_columns(const Table& x, const Roles& roles_x, const Table& y, Roles& roles_y,
                   std::vector<std::string>& notes) {
  if (x.has_names && y.has_names) {
    std::vector<std::size_t> matched = match_by_name(x, roles_x, y, roles_y);
    if (matched != roles_y.points) {
      notes.push_back(fmt::format("{}: columns put in the order of {}, by name", y.source, x.source));
    }
    roles_y.points = std::move(matched);
    return;
  }
  if (roles_x.points.size() != roles_y.points.size()) {
    fail(ErrorCode::shape_mismatch, "{} has {} columns of points and {} has {}, expected the same number", x.source,
         roles_x.points.size(), y.source, roles_y.points.size());
  }
  if (x.has_names != y.has_names) {
    notes.push_back(fmt::format("{} has no column names, so its columns are matched with those of {} by position",
                                x.has_names ? y.source : x.source, x.has_names ? x.source : y.source));
  }
}

}  // namespace

Sample read_sample(const std::string& path, const ReadOptions& options) {
  Table table = read_table(path, reader_options_of(options));
  const Roles roles = assign_roles(table, options);
  return to_sample(std::move(table), roles);
}

SamplePair read_pair(const std::string& path_x, const std::string& path_y, const ReadOptions& options) {
  if (is_standard_input(path_x) && is_standard_input(path_y)) {
    fail(ErrorCode::invalid_option,
         "both samples are standard input, which can be read once; write one of them to a file and name that");
  }
  SamplePair pair;
  Table x = read_table(path_x, reader_options_of(options));
  const Roles roles_x = assign_roles(x, options);
  Table y = read_table(path_y, reader_options_of(options));
  Roles roles_y = assign_roles(y, options);
  for (const Table* table : {&x, &y}) pair.notes.insert(pair.notes.end(), table->notes.begin(), table->notes.end());
  match_columns(x, roles_x, y, roles_y, pair.notes);

  pair.x = to_sample(std::move(x), roles_x);
  pair.y = to_sample(std::move(y), roles_y);
  if (pair.x.column_names.empty()) pair.x.column_names = pair.y.column_names;
  if (pair.y.column_names.empty()) pair.y.column_names = pair.x.column_names;
  return pair;
}

}  // namespace kqd
