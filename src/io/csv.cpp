#include "io/csv.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fail.hpp"
#include "io/number.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

struct FirstRow {
  std::size_t line = 0;
  std::vector<std::string> cells;
};

FirstRow read_first_row(CsvScanner& scanner) {
  FirstRow row{scanner.line(), {}};
  do {
    row.cells.emplace_back(scanner.read_text());
  } while (!scanner.at_row_end());
  return row;
}

// One finite number, or an Error that says where and what the cell is.
double number_or_fail(std::string_view text, const Table& table, std::size_t line, std::size_t column) {
  const Cell cell = parse_cell(text);
  if (cell.kind == CellKind::number) return cell.value;
  const std::string name =
      table.column_names.empty() ? "" : fmt::format(" ({})", shortened(table.column_names[column - 1]));
  const bool too_large = cell.kind == CellKind::out_of_range;
  fail(cell.kind == CellKind::text ? ErrorCode::unreadable_input : ErrorCode::non_finite_value,
       "{}:{}: column {}{} is {}, expected a number{}", table.source, line, column, name, in_quotes(text),
       too_large ? " that fits into a double (below 1.8e308)" : "");
}

void check_name(const std::string& name, const Table& table, std::size_t line, std::size_t column) {
  if (name.empty()) {
    fail(ErrorCode::unreadable_input,
         "{}:{}: column {} has no name, expected one (if it is a row index, write the file without it)", table.source,
         line, column);
  }
  if (!is_utf8(name)) {
    fail(ErrorCode::unreadable_input, "{}:{}: column {} is named {}, expected a name in UTF-8", table.source, line,
         column, in_quotes(name));
  }
}

void check_names(const Table& table, std::size_t line) {
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < table.column_names.size(); ++j) {
    const std::string& name = table.column_names[j];
    check_name(name, table, line, j + 1);
    const auto [found, is_new] = column_of.emplace(name, j);
    if (!is_new) {
      fail(ErrorCode::unreadable_input, "{}:{}: columns {} and {} are both named {}, expected different names",
           table.source, line, found->second + 1, j + 1, in_quotes(name));
    }
  }
}

// Tools that name columns by numbers write 0,1,2,... or 1,2,3,... on top, which no reader can tell from data.
bool counts_up(const std::vector<Cell>& cells) {
  const double first = cells.front().value;
  if (cells.size() < 3 || (first != 0.0 && first != 1.0)) return false;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    if (cells[j].value != first + static_cast<double>(j)) return false;
  }
  return true;
}

// A cell of text makes a header. A missing value does not: it stands in data more often than on top of them.
void begin_table(Table& table, FirstRow first) {
  std::vector<Cell> cells;
  for (const std::string& text : first.cells) cells.push_back(parse_cell(text));
  const auto num_of = [&](CellKind kind) { return std::ranges::count(cells, kind, &Cell::kind); };
  table.cells = BlockedRows(cells.size());
  if (num_of(CellKind::text) > 0) {
    table.column_names = std::move(first.cells);
    check_names(table, first.line);
    if (const auto numbers = num_of(CellKind::number); numbers > 0) {
      table.notes.push_back(fmt::format("{}:{}: taken as a header, with numbers in {} of its {} cells", table.source,
                                        first.line, numbers, cells.size()));
    }
    return;
  }
  double* row = table.cells.append_row();
  for (std::size_t j = 0; j < cells.size(); ++j) row[j] = number_or_fail(first.cells[j], table, first.line, j + 1);
  if (counts_up(cells)) {
    table.notes.push_back(fmt::format("{}:{}: taken as data, although it counts {}, {}, {}, ... as a header might",
                                      table.source, first.line, first.cells[0], first.cells[1], first.cells[2]));
  }
}

[[noreturn]] void fail_ragged(CsvScanner& scanner, const Table& table, std::size_t first_line) {
  while (!scanner.at_row_end()) static_cast<void>(scanner.read_text());
  fail(ErrorCode::unreadable_input, "{}:{}: the row has {} {}, expected {} as in line {}", table.source, scanner.line(),
       scanner.column(), scanner.column() == 1 ? "cell" : "cells", table.cells.cols(), first_line);
}

void read_data_row(CsvScanner& scanner, Table& table, std::size_t first_line) {
  double* row = table.cells.append_row();
  const std::size_t cols = table.cells.cols();
  for (std::size_t j = 0; j < cols; ++j) {
    if (!scanner.read_number(row[j])) {
      row[j] = number_or_fail(scanner.read_text(), table, scanner.line(), j + 1);
    }
    if (scanner.at_row_end() != (j + 1 == cols)) fail_ragged(scanner, table, first_line);
  }
}

}  // namespace

Table read_csv(ByteSource& source, const CsvOptions& options) {
  Table table;
  table.source = source.name();
  CsvScanner scanner(source, options);
  if (!scanner.next_row()) {
    fail(ErrorCode::empty_sample,
         "{}: the file is empty or has only blank lines and comments, expected rows of numbers", table.source);
  }
  const std::size_t first_line = scanner.line();
  begin_table(table, read_first_row(scanner));
  while (scanner.next_row()) read_data_row(scanner, table, first_line);
  if (table.cells.rows() == 0) {
    fail(ErrorCode::empty_sample, "{}: the file has a header and nothing below it, expected rows of numbers",
         table.source);
  }
  return table;
}

}  // namespace kqd
