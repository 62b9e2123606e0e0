#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/column_list.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// Only the beginning of a text is ever shown.
constexpr std::size_t kKeptBytes = 256;

void note_first(Place& place, std::size_t line, std::string_view text) {
  if (place.line == 0) place = {line, std::string(text.substr(0, kKeptBytes))};
}

// More different texts than a column of categories may have.
constexpr std::size_t kMostSpellings = 1000;

}  // namespace

bool is_surely_shortest(std::string_view text) {
  constexpr std::size_t kExactDigits = 15;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text == "0") return !negative;
  const bool starts_well =
      text.starts_with('0') ? text.size() > 2 && text[1] == '.' && text[2] != '0' : !text.empty() && is_digit(text[0]);
  if (!starts_well || text.size() > kExactDigits) return false;
  bool has_point = false;
  for (const char c : text) {
    if (!is_digit(c) && c != '.') return false;
    has_point = has_point || c == '.';
  }
  return !has_point || (text.back() != '0' && text.back() != '.');
}

Table::Table(std::string from, std::vector<std::string> names, TextRules text_rules)
    : Table(std::move(from), names.size(), std::move(text_rules)) {
  has_names = true;
  for (std::size_t j = 0; j < names.size(); ++j) columns[j].name = std::move(names[j]);
  declare_types();
}

Table::Table(std::string from, std::size_t cols, TextRules text_rules)
    : source(std::move(from)), columns(cols), cells(cols), rules(std::move(text_rules)) {
  declare_types();
}

// Twice for a table with names: before they are known, no rule names a column.
void Table::declare_types() {
  for (const TypeRule& rule : rules.types) {
    ColumnList list("types", rule.columns);
    const std::vector<bool> marks = list.marks(*this);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (!marks[j]) continue;
      columns[j].declared = rule.type;
      columns[j].date_order = rule.date_order;
      columns[j].levels = rule.levels;
    }
  }
}

double Table::from_date(Column& column, double days, std::string_view text, std::size_t line) {
  if (column.declared && column.declared != ColumnType::date) return add_text(column, text, line);
  note_first(column.first_date, line, text);
  ++column.num_dates;
  return days;
}

double Table::from_word(std::size_t column, std::string_view text, std::size_t line) {
  Column& books = columns[column];
  const bool may_be_date = books.declared ? books.declared == ColumnType::date : rules.dates;
  const auto days = may_be_date ? parse_date(text, books.date_order) : std::nullopt;
  return days ? from_date(books, *days, text, line) : add_text(books, text, line);
}

double Table::from_text(std::size_t column, std::string_view text, std::size_t line) {
  const Cell cell = parse_cell(text, rules);
  Column& books = columns[column];
  switch (cell.kind) {
    case CellKind::number: {
      const std::size_t row = has_lines ? cells.rows() - 1 : line - 1;
      if (std::abs(cell.value) >= kLargestExactWhole) {
        std::string with_point(text);
        if (rules.decimal_comma) std::ranges::replace(with_point, ',', '.');
        const auto remainder = rounded_off(with_point, cell.value);
        if (!is_print_of(with_point, cell.value)) {
          books.has_unknown_remainder = books.has_unknown_remainder || !remainder;
          add_remainder(column, {row, remainder.value_or(1)}, line, text);
        } else if (remainder.value_or(0) != 0) {  // counts among numbers that are exact
          books.remainders.push_back({row, *remainder});
        }
      }
      note_spelling(column, cell.value, text, row);
      break;
    }
    case CellKind::missing:
      return from_nothing(column, text, line);
    case CellKind::infinite:
    case CellKind::out_of_range:
      note_first(books.first_infinite, line, text);
      break;
    case CellKind::date:
      return from_date(books, cell.value, text, line);
    case CellKind::text:
      if (books.declared == ColumnType::date) return from_word(column, text, line);
      return add_text(books, text, line);
  }
  return cell.value;
}

double Table::from_nothing(std::size_t column, std::string_view spelling, std::size_t line) {
  note_first(columns[column].first_missing, line, spelling);
  ++columns[column].num_missing;
  return missing_cell();
}

double Table::from_other_number(std::size_t column, double value, std::size_t line) {
  if (!std::isinf(value)) return from_nothing(column, fmt::format("{}", value), line);
  note_first(columns[column].first_infinite, line, fmt::format("{}", value));
  return value;
}

void Table::add_remainder(std::size_t column, const Remainder& remainder, std::size_t line, std::string_view text) {
  if (remainder.value == 0) return;
  note_first(columns[column].first_rounded, line, text);
  columns[column].remainders.push_back(remainder);
}

void Table::keep_spelling(std::size_t j, double value, std::string_view text, std::size_t row) {
  if (std::isnan(value)) return;
  Column& column = columns[j];
  if (!column.spellings) column.spellings = std::make_unique<TextDictionary>(kMostSpellings);
  if (const auto code = column.spellings->code_of(text, row + 1, spelling_bytes_left_)) {
    column.spelled.push_back({row, *code});
  } else {
    column.keeps_spellings = false;
    column.spelled = {};
  }
}

void Table::start_next_block() {
  dropped.count += cells.rows();
  cells.clear();
  for (Column& column : columns) {
    column.remainders.clear();
    column.spelled.clear();
  }
}

void Table::spell_out(std::size_t j) {
  Column& column = columns[j];
  if (!column.keeps_spellings) return;
  if (!column.texts) column.texts = std::make_unique<TextDictionary>();
  auto next = column.spelled.begin();
  std::size_t row = 0;
  for (std::size_t b = 0; b < cells.num_blocks() && next != column.spelled.end(); ++b) {
    const MatrixView<double> block = cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i, ++row) {
      if (next == column.spelled.end() || next->row != row) continue;
      const std::string_view text = (*column.spellings)[next->spelling].text;
      const auto code = column.texts->code_of(text, number_of(row) + 1, text_bytes_left_);
      block(i, j) = code ? text_cell(*code) : hashed_text_cell(hash_of_text(text));
      ++next;
    }
  }
  // Numbers that are not doubles are among those.
  column.remainders.clear();
  column.first_rounded = {};
  column.has_unknown_remainder = false;
}

double Table::add_text(Column& column, std::string_view text, std::size_t line) {
  ++column.num_texts;
  if (!column.texts) column.texts = std::make_unique<TextDictionary>();
  const auto code = column.texts->code_of(text, line, text_bytes_left_);
  return code ? text_cell(*code) : hashed_text_cell(hash_of_text(text));
}

std::string Table::place_of(std::size_t line) const {
  return has_lines ? fmt::format("{}:{}", source, line) : source;
}

std::string Table::cell_of(std::size_t column, std::size_t line) const {
  return has_lines ? fmt::format("column {}", label_of(column))
                   : fmt::format("row {}, column {}", line, label_of(column));
}

std::string Table::name_of(std::size_t column) const {
  return has_names ? columns[column].name : std::to_string(column + 1);
}

std::string Table::label_of(std::size_t column) const {
  return has_names ? in_quotes(columns[column].name) : fmt::format("{}", column + 1);
}

Table header_of(const Table& table) {
  Table header(table.source, table.columns.size(), table.rules);
  header.has_names = table.has_names;
  for (std::size_t j = 0; j < table.columns.size(); ++j) header.columns[j].name = table.columns[j].name;
  return header;
}

}  // namespace kqd
