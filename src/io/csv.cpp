#include "io/csv.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fail.hpp"
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

// A column without a name passes: it may be a row index that is left out (see assign_roles).
void check_names(const FirstRow& header, const std::string& source) {
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < header.cells.size(); ++j) {
    const std::string& name = header.cells[j];
    if (name.empty()) continue;
    if (!is_utf8(name)) {
      fail(ErrorCode::unreadable_input, "{}:{}: column {} is named {}, expected a name in UTF-8", source, header.line,
           j + 1, in_quotes(name));
    }
    const auto [found, is_new] = column_of.emplace(name, j);
    if (!is_new) {
      fail(ErrorCode::unreadable_input, "{}:{}: columns {} and {} are both named {}, expected different names", source,
           header.line, found->second + 1, j + 1, in_quotes(name));
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

// How pandas writes a table whose columns have no names: nothing above the row index, then 0,1,2,... as names.
bool is_header_of_index(const std::vector<std::string>& cells) {
  if (cells.size() < 2 || !cells.front().empty()) return false;
  for (std::size_t j = 1; j < cells.size(); ++j) {
    if (cells[j] != std::to_string(j - 1)) return false;
  }
  return true;
}

Table with_header(const std::string& source, FirstRow header, std::ptrdiff_t num_numbers, const TextRules& rules) {
  check_names(header, source);
  Table table(source, std::move(header.cells), rules);
  if (num_numbers > 0) {
    table.notes.push_back(fmt::format("{}:{}: taken as a header, with numbers in {} of its {} cells", source,
                                      header.line, num_numbers, table.columns.size()));
  }
  return table;
}

Table with_first_row(const std::string& source, const FirstRow& first, bool doubtful, const TextRules& rules) {
  Table table(source, first.cells.size(), rules);
  double* row = table.cells.append_row();
  for (std::size_t j = 0; j < first.cells.size(); ++j) row[j] = table.from_text(j, first.cells[j], first.line);
  if (is_header_of_index(first.cells)) table.header_in_data = first.line;
  if (doubtful) {
    table.warnings.push_back(fmt::format(
        "{}:{}: taken as data, although it counts {}, {}, {}, ... as a header might; --header if it holds names, "
        "--no-header if it does not",
        source, first.line, first.cells[0], first.cells[1], first.cells[2]));
  }
  return table;
}

// A cell of text makes a header. A missing value does not, unless above an index: it stands in data more often than on
// top of them.
Table begin_table(const std::string& source, FirstRow first, CsvHeader header, const TextRules& rules) {
  std::vector<Cell> cells;
  for (const std::string& text : first.cells) cells.push_back(parse_cell(text, rules));
  const auto num_of = [&](CellKind kind) { return std::ranges::count(cells, kind, &Cell::kind); };
  const bool looks_so = num_of(CellKind::text) > 0 || is_header_of_index(first.cells);
  if (header == CsvHeader::absent || (header == CsvHeader::found && !looks_so)) {
    return with_first_row(source, first, header == CsvHeader::found && counts_up(cells), rules);
  }
  return with_header(source, std::move(first), header == CsvHeader::found ? num_of(CellKind::number) : 0, rules);
}

[[noreturn]] void fail_ragged(CsvScanner& scanner, const Table& table, std::size_t first_line) {
  while (!scanner.at_row_end()) static_cast<void>(scanner.read_text());
  fail(ErrorCode::unreadable_input, "{}:{}: the row has {} {}, expected {} as in line {}", table.source, scanner.line(),
       scanner.column(), scanner.column() == 1 ? "cell" : "cells", table.cells.cols(), first_line);
}

void read_data_row(CsvScanner& scanner, Table& table, std::size_t first_line) {
  double* row = table.cells.append_row();
  const std::size_t cols = table.cells.cols();
  const bool some_mean_missing = !table.rules.missing_numbers.empty();
  for (std::size_t j = 0; j < cols; ++j) {
    if (!scanner.read_number(row[j])) {
      row[j] = table.from_text(j, scanner.read_text(), scanner.line());
    } else if (some_mean_missing) {
      row[j] = table.from_number(j, row[j], scanner.line());
    }
    if (scanner.at_row_end() != (j + 1 == cols)) fail_ragged(scanner, table, first_line);
  }
}

}  // namespace

Table read_csv(ByteSource& source, const CsvOptions& options, const TextRules& rules) {
  CsvScanner scanner(source, options);
  if (!scanner.next_row()) {
    fail(ErrorCode::empty_sample,
         "{}: the file is empty or has only blank lines and comments, expected rows of numbers", source.name());
  }
  const std::size_t first_line = scanner.line();
  TextRules own_rules = rules;
  own_rules.decimal_comma = options.decimal_comma;
  Table table = begin_table(source.name(), read_first_row(scanner), options.header, own_rules);
  table.has_lines = true;
  while (scanner.next_row()) read_data_row(scanner, table, first_line);
  if (table.cells.rows() == 0) {
    fail(ErrorCode::empty_sample, "{}: the file has a header and nothing below it, expected rows of numbers",
         table.source);
  }
  return table;
}

}  // namespace kqd
