#include "io/cell_checks.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/fail.hpp"
#include "io/column_list.hpp"
#include "io/date.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// With at most this many different texts a column is likely to hold categories: a column for each is feasible.
constexpr std::size_t kFewTexts = 20;

// Throws the error for a cell that is not a number.
[[noreturn]] void fail_cell(ErrorCode code, const Table& table, std::size_t column, const Place& place,
                            std::string_view or_else = "", std::string remedy = "") {
  const CellKind kind = parse_cell(place.text).kind;
  fail_at(code, table.place_of(place.line),
          fmt::format("{} is {}", table.cell_of(column, place.line), in_quotes(place.text)),
          fmt::format("a {}number{}{}", kind == CellKind::infinite ? "finite " : "",
                      kind == CellKind::out_of_range ? " that fits into a double (below 1.8e308)" : "", or_else),
          std::move(remedy));
}

Place first_text(const Column& column) {
  const TextDictionary::Entry& entry = (*column.texts)[0];
  return {entry.line, std::string(entry.text)};
}

void check_infinite(const Table& table, std::size_t j) {
  const Place& place = table.columns[j].first_infinite;
  if (place.line > 0) fail_cell(ErrorCode::non_finite_value, table, j, place);
}

// Days and other numbers in one column, or in two columns that are compared, would count as the same quantity.
void check_dates(const std::vector<Input>& inputs, std::size_t place) {
  const Input* dated = nullptr;
  std::size_t numbers = 0;
  for (const Input& input : inputs) {
    const Column& column = input.table.columns[input.roles.points[place]];
    numbers += input.table.rows_read() - column.num_missing - column.num_texts - column.num_dates;
    if (dated == nullptr && column.num_dates > 0) dated = &input;
  }
  if (dated == nullptr || numbers == 0) return;
  const std::size_t j = dated->roles.points[place];
  const Place& first = dated->table.columns[j].first_date;
  fail_at(ErrorCode::unreadable_input, dated->table.place_of(first.line),
          fmt::format("{} is {}, a date, and {} a number", dated->table.cell_of(j, first.line), in_quotes(first.text),
                      numbers == 1 ? "1 other cell of the column is"
                                   : fmt::format("{} other cells of the column are each", numbers)),
          "all dates or none", "To keep dates as text, remove " KQD_OPTION("dates=yes"));
}

// A text here and there in a column of numbers is a typing error or a word for "missing", not a category.
bool is_mostly_numbers(const Table& table, const Column& column) {
  return 2 * column.num_texts <= table.rows_read() - column.num_missing;
}

std::string describe_texts(const Table& table, const std::vector<std::size_t>& text_columns) {
  constexpr std::size_t kListed = 8;
  std::vector<std::string> shown;
  for (const std::size_t j : text_columns) {
    if (shown.size() == kListed) break;
    const TextDictionary& texts = *table.columns[j].texts;
    shown.push_back(
        fmt::format("{} ({}{} different)", table.label_of(j), texts.overfull() ? "more than " : "", texts.size()));
  }
  const std::size_t rest = text_columns.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), rest > 0 ? fmt::format(" and {} more", rest) : "");
}

// The remedy for a few texts in a column of numbers. A text with the separator of lists cannot be an item of na_values.
std::string remedy_for_few_texts(const Table& table, std::size_t j, const ReadOptions& options) {
  constexpr std::size_t kShort = 40;  // a longer text would be cut off in a message
  const Column& column = table.columns[j];
  const std::string text = first_text(column).text;
  const std::string count = fmt::format("{} of {} cells of the column {} text. ", column.num_texts, table.rows_read(),
                                        column.num_texts == 1 ? "is" : "are");
  if (text.find(options.csv.decimal_comma ? ';' : ',') != std::string::npos) {
    return fmt::format("{}Correct the cell, or exclude the column: {}", count,
                       option_reference("drop", item_of(table, j)));
  }
  const std::string item = option_reference("na_values", text.size() <= kShort ? printable(text) : "");
  return options.na == NaPolicy::raise
             ? fmt::format("{}To treat it as missing and omit such rows: {} " KQD_OPTION("na=omit"), count, item)
             : fmt::format("{}To treat it as missing: {}", count, item);
}

// The remedy for a table that was read as one column because its cells have another separator, or "".
std::string remedy_for_delimiter(const Table& table, const ReadOptions& options) {
  if (!table.has_names || table.columns.size() != 1) return "";
  constexpr std::array<std::pair<char, std::string_view>, 6> kDelimiters = {
      {{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}, {':', ":"}, {' ', "space"}}};
  const std::string text = first_text(table.columns[0]).text;
  for (const auto& [character, name] : kDelimiters) {
    const auto found = std::ranges::count(table.columns[0].name, character);
    if (found == 0 || std::ranges::count(text, character) != found) continue;
    const std::string start = fmt::format("{} has only one column. ", table.source);
    if (character == ',' && options.csv.decimal_comma) {
      return start + "If commas separate its cells, remove " KQD_OPTION("decimal_comma=yes");
    }
    return fmt::format("{}To split it into {}: {}", start, found + 1, option_reference("delimiter", name));
  }
  return "";
}

std::string remedy_for_texts(const Table& table, const std::vector<std::size_t>& text_columns,
                             const ReadOptions& options) {
  const Column& first = table.columns[text_columns.front()];
  if (is_mostly_numbers(table, first)) return remedy_for_few_texts(table, text_columns.front(), options);
  if (std::string remedy = remedy_for_delimiter(table, options); !remedy.empty()) return remedy;
  if (!options.csv.decimal_comma && all_have_decimal_commas(*first.texts)) {
    return "If it has a decimal comma, and columns are separated by another character: " KQD_OPTION(
        "decimal_comma=yes");
  }
  const auto texts_of = [&](std::size_t j) -> const TextDictionary& { return *table.columns[j].texts; };
  std::vector<std::size_t> others;
  std::ranges::copy_if(text_columns, std::back_inserter(others),
                       [&](std::size_t j) { return !all_are_dates(texts_of(j)); });
  const std::string listed = fmt::format("Columns of text: {}. ", describe_texts(table, text_columns));
  if (others.empty()) {
    return listed + "To read dates as numbers: " KQD_OPTION("dates=yes") "; to exclude columns: " KQD_OPTION("drop");
  }
  const bool some_dates = others.size() < text_columns.size();
  const bool few = std::ranges::all_of(others, [&](std::size_t j) { return texts_of(j).size() <= kFewTexts; });
  return fmt::format("{}{}{}; to exclude them: " KQD_OPTION("categorical=drop"), listed,
                     some_dates ? "To read dates as numbers: " KQD_OPTION("dates=yes") ". " : "",
                     few ? "To make a column of each text: " KQD_OPTION("categorical=onehot")
                         : "To turn texts into numbers: " KQD_OPTION("categorical=hash"));
}

void check_texts(const Table& table, const std::vector<std::size_t>& columns, const ReadOptions& options) {
  std::vector<std::size_t> text_columns;
  std::ranges::copy_if(columns, std::back_inserter(text_columns),
                       [&](std::size_t j) { return table.columns[j].has_text() && !table.columns[j].declared; });
  if (text_columns.empty()) return;
  const std::size_t j = text_columns.front();
  fail_cell(ErrorCode::unreadable_input, table, j, first_text(table.columns[j]), "",
            remedy_for_texts(table, text_columns, options));
}

void check_missing(const Table& table, const std::vector<std::size_t>& columns) {
  std::size_t cells = 0;
  const Column* first = nullptr;
  for (const std::size_t j : columns) {
    const Column& column = table.columns[j];
    cells += column.num_missing;
    if (column.num_missing > 0 && (first == nullptr || column.first_missing.line < first->first_missing.line)) {
      first = &column;
    }
  }
  if (first == nullptr) return;
  std::string remedy =
      first->first_missing.line == table.header_in_data
          ? "The line looks like the header of a table with a row index. To read it so, remove " KQD_OPTION("header=no")
          : fmt::format("{} missing. To omit such rows: " KQD_OPTION("na=omit") "; to fill in medians: " KQD_OPTION(
                            "na=impute-median"),
                        cells == 1 ? "1 value is" : fmt::format("{} values are", cells));
  fail_cell(ErrorCode::non_finite_value, table, static_cast<std::size_t>(first - table.columns.data()),
            first->first_missing, "", std::move(remedy));
}

// Columns of weights, units and groups are not filled in: an invented weight or block is worse than none.
void check_special(const Table& table, std::optional<std::size_t> j, bool text_allowed, NaPolicy na) {
  if (!j) return;
  const Column& column = table.columns[*j];
  check_infinite(table, *j);
  if (column.has_text() && !text_allowed) {
    fail_cell(ErrorCode::unreadable_input, table, *j, first_text(column));
  }
  if (column.num_missing > 0 && na != NaPolicy::omit) {
    fail_cell(ErrorCode::non_finite_value, table, *j, column.first_missing, text_allowed ? " or a text" : "",
              "To omit such rows: " KQD_OPTION("na=omit"));
  }
}

void check_input(const Input& input, const ReadOptions& options) {
  const auto& [table, roles] = input;
  for (const std::size_t j : roles.points) check_infinite(table, j);
  check_special(table, roles.weights, false, options.na);
  check_special(table, roles.unit, true, options.na);
  check_special(table, roles.group, true, options.na);
  if (options.categorical == Categorical::raise) check_texts(table, roles.points, options);
}

}  // namespace

bool all_have_decimal_commas(const TextDictionary& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string text(texts[i].text);
    if (std::ranges::count(text, ',') != 1) return false;
    std::ranges::replace(text, ',', '.');
    if (parse_cell(text).kind != CellKind::number) return false;
  }
  return true;
}

bool is_text_column(const std::vector<Input>& inputs, std::size_t place) {
  return std::ranges::any_of(
      inputs, [&](const Input& input) { return input.table.columns[input.roles.points[place]].has_text(); });
}

bool all_are_dates(const TextDictionary& texts) {
  if (texts.overfull()) return false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!parse_date(texts[i].text)) return false;
  }
  return true;
}

bool is_column_of_date_texts(const std::vector<Input>& inputs, std::size_t place) {
  return std::ranges::all_of(inputs, [&](const Input& input) {
    const Column& column = input.table.columns[input.roles.points[place]];
    return column.has_text() && column.num_texts + column.num_missing == input.table.rows_read() &&
           all_are_dates(*column.texts);
  });
}

void check_cells(const std::vector<Input>& inputs, const ReadOptions& options) {
  for (const Input& input : inputs) check_input(input, options);
  for (std::size_t k = 0; k < inputs.front().roles.points.size(); ++k) check_dates(inputs, k);
  if (options.na != NaPolicy::raise) return;
  for (const Input& input : inputs) {
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < input.roles.points.size(); ++k) {
      const bool dropped = options.categorical == Categorical::drop && is_text_column(inputs, k);
      if (!dropped) columns.push_back(input.roles.points[k]);
    }
    check_missing(input.table, columns);
  }
}

}  // namespace kqd
