#include "io/cell_checks.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/fail.hpp"
#include "io/date.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// So few different texts are likely kinds of something: worth a column each.
constexpr std::size_t kFewTexts = 20;

// The refusal of a cell that is not a number: where it stands, what it is, and what helps.
[[noreturn]] void fail_cell(ErrorCode code, const Table& table, std::size_t column, const Place& place,
                            const std::string& help = "") {
  const bool too_large = parse_cell(place.text).kind == CellKind::out_of_range;
  fail(code, "{} is {}, expected a number{}{}", table.place_of(column, place.line), in_quotes(place.text),
       too_large ? " that fits into a double (below 1.8e308)" : "", help);
}

Place first_text(const Column& column) {
  const TextDictionary::Entry& entry = (*column.texts)[0];
  return {entry.line, std::string(entry.text)};
}

void check_infinite(const Table& table, std::size_t j) {
  const Place& place = table.columns[j].first_infinite;
  if (place.line > 0) fail_cell(ErrorCode::non_finite_value, table, j, place);
}

// Days and other numbers in one column, or in two columns that are compared, would be compared as if they were the
// same.
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
  fail(ErrorCode::unreadable_input,
       "{} is {}, a date, and {} of the column {} a number, expected all dates or none (or leave --dates out)",
       dated->table.place_of(j, first.line), in_quotes(first.text),
       numbers == 1 ? "1 other cell" : fmt::format("{} other cells", numbers), numbers == 1 ? "is" : "are each");
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

std::string text_help(const Table& table, const std::vector<std::size_t>& text_columns) {
  const Column& first = table.columns[text_columns.front()];
  if (is_mostly_numbers(table, first)) {
    return fmt::format("; {} of {} cells of the column {} text: --na-values can name what means missing",
                       first.num_texts, table.rows_read(), first.num_texts == 1 ? "is" : "are");
  }
  const auto texts_of = [&](std::size_t j) -> const TextDictionary& { return *table.columns[j].texts; };
  std::vector<std::size_t> others;
  std::ranges::copy_if(text_columns, std::back_inserter(others),
                       [&](std::size_t j) { return !all_are_dates(texts_of(j)); });
  std::string help = fmt::format("; columns of text: {}; ", describe_texts(table, text_columns));
  if (others.empty()) return help + "--dates reads dates as numbers, --drop leaves columns out";
  if (others.size() < text_columns.size()) help += "--dates reads those of dates as numbers; ";
  if (std::ranges::all_of(others, [&](std::size_t j) { return texts_of(j).size() <= kFewTexts; })) {
    return help + "--categorical onehot makes a column of each text, --categorical drop leaves them out";
  }
  return help + "--categorical onehot|hash|drop turns them into numbers or leaves them out";
}

void check_texts(const Table& table, const std::vector<std::size_t>& columns) {
  std::vector<std::size_t> text_columns;
  std::ranges::copy_if(columns, std::back_inserter(text_columns),
                       [&](std::size_t j) { return table.columns[j].has_text(); });
  if (text_columns.empty()) return;
  const std::size_t j = text_columns.front();
  fail_cell(ErrorCode::unreadable_input, table, j, first_text(table.columns[j]), text_help(table, text_columns));
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
  const std::string help =
      first->first_missing.line == table.header_in_data
          ? "; the line looks like the header of a table with a row index: leave --no-header out"
          : fmt::format("; {} {} missing: --na omit leaves such rows out, --na impute-median fills in medians", cells,
                        cells == 1 ? "value is" : "values are");
  fail_cell(ErrorCode::non_finite_value, table, static_cast<std::size_t>(first - table.columns.data()),
            first->first_missing, help);
}

// Columns with a part of their own are not filled in: a made-up weight or block is worse than none.
void check_own_part(const Table& table, std::optional<std::size_t> j, bool text_allowed, NaPolicy na) {
  if (!j) return;
  const Column& column = table.columns[*j];
  check_infinite(table, *j);
  if (column.has_text() && !text_allowed) {
    fail_cell(ErrorCode::unreadable_input, table, *j, first_text(column));
  }
  if (column.num_missing > 0 && na != NaPolicy::omit) {
    fail_cell(ErrorCode::non_finite_value, table, *j, column.first_missing,
              fmt::format("{}; --na omit leaves such rows out", text_allowed ? " or a text" : ""));
  }
}

void check_input(const Input& input, const ReadOptions& options) {
  const auto& [table, roles] = input;
  for (const std::size_t j : roles.points) check_infinite(table, j);
  check_own_part(table, roles.weights, false, options.na);
  check_own_part(table, roles.unit, true, options.na);
  check_own_part(table, roles.group, true, options.na);
  if (options.categorical == Categorical::raise) check_texts(table, roles.points);
}

}  // namespace

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
