#include "io/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/fail.hpp"
#include "core/warning.hpp"
#include "io/csv_scanner.hpp"
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

// A column without a name passes: it may be a row index that is excluded (see assign_roles).
void check_names(const FirstRow& header, const std::string& source) {
  std::unordered_map<std::string_view, std::size_t> column_of;
  for (std::size_t j = 0; j < header.cells.size(); ++j) {
    const std::string& name = header.cells[j];
    if (name.empty()) continue;
    if (!is_utf8(name)) {
      fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", source, header.line),
              fmt::format("column {} is named {}", j + 1, in_quotes(name)), "a name in UTF-8");
    }
    const auto [found, is_new] = column_of.emplace(name, j);
    if (!is_new) {
      fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", source, header.line),
              fmt::format("columns {} and {} are both named {}", found->second + 1, j + 1, in_quotes(name)),
              "different names");
    }
  }
}

// The header that pandas writes for columns without names: nothing above the row index, then 0,1,2,...
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
  table.has_lines = true;
  if (num_numbers > 0) {
    warn(table.notes, WarningId::numbers_in_header, source, header.line, num_numbers, table.columns.size());
  }
  return table;
}

Table with_first_row(const std::string& source, const FirstRow& first, const TextRules& rules) {
  Table table(source, first.cells.size(), rules);
  table.has_lines = true;
  double* row = table.cells.append_row();
  for (std::size_t j = 0; j < first.cells.size(); ++j) row[j] = table.from_text(j, first.cells[j], first.line);
  if (is_header_of_index(first.cells)) table.header_in_data = first.line;
  return table;
}

// A cell of text makes a header. A missing value does not, unless above an index: it is more common in data
// than in a header.
Table begin_table(const std::string& source, FirstRow first, CsvHeader header, const TextRules& rules) {
  std::vector<Cell> cells;
  for (const std::string& text : first.cells) cells.push_back(parse_cell(text, rules));
  const auto num_of = [&](CellKind kind) { return std::ranges::count(cells, kind, &Cell::kind); };
  const bool looks_so = num_of(CellKind::text) > 0 || is_header_of_index(first.cells);
  if (header == CsvHeader::absent || (header == CsvHeader::found && !looks_so)) {
    Table table = with_first_row(source, first, rules);
    if (header == CsvHeader::found) table.undecided_header = first.line;
    return table;
  }
  return with_header(source, std::move(first), header == CsvHeader::found ? num_of(CellKind::number) : 0, rules);
}

[[noreturn]] void fail_ragged(CsvScanner& scanner, const Table& table, std::size_t first_line) {
  while (!scanner.at_row_end()) static_cast<void>(scanner.read_text());
  fail_at(ErrorCode::unreadable_input, fmt::format("{}:{}", table.source, scanner.line()),
          fmt::format("the row has {} {}", scanner.column(), scanner.column() == 1 ? "cell" : "cells"),
          fmt::format("{} as in line {}", table.cells.cols(), first_line));
}

void read_data_row(CsvScanner& scanner, Table& table, std::size_t first_line) {
  double* row = table.cells.append_row();
  const std::size_t cols = table.cells.cols();
  const bool some_mean_missing = !table.rules.missing_numbers.empty();
  for (std::size_t j = 0; j < cols; ++j) {
    if (!scanner.read_number(row[j])) {
      row[j] = table.from_text(j, scanner.read_text(), scanner.line());
    } else {
      if (some_mean_missing) row[j] = table.from_number(j, row[j], scanner.line());
      table.note_spelling(j, row[j], scanner.number_text(), table.cells.rows() - 1);
    }
    if (scanner.at_row_end() != (j + 1 == cols)) fail_ragged(scanner, table, first_line);
  }
}

}  // namespace

Table read_csv(ByteSource& source, const CsvFormat& format, const TextRules& rules, const CsvLimits& limits) {
  CsvScanner scanner(source, format, limits.buffer_bytes);
  if (!scanner.next_row()) {
    fail_at(ErrorCode::empty_sample, source.name(), "the file is empty or has only blank lines and comments",
            "rows of numbers");
  }
  const std::size_t first_line = scanner.line();
  const std::size_t blank_at_top = scanner.blank_lines().count;
  TextRules own_rules = rules;
  own_rules.decimal_comma = format.decimal_comma;
  Table table = begin_table(source.name(), read_first_row(scanner), format.header, own_rules);
  const bool one_column = table.cells.cols() == 1;
  const std::size_t most_rows = source.size() || limits.max_memory == 0
                                    ? std::numeric_limits<std::size_t>::max()
                                    : limits.max_memory / (table.cells.cols() * sizeof(double));
  const auto require_room = [&] {
    if (table.cells.rows() < most_rows) return;
    fail_at(ErrorCode::resource_limit, fmt::format("{}:{}", table.source, scanner.line()),
            fmt::format("the rows so far take more than the limit on memory ({} MB)", limits.max_memory / 1'000'000),
            "", "To allow more: " KQD_OPTION("max_memory") "; to draw some of the rows: " KQD_OPTION("max_rows"));
  };
  std::size_t thin_at = limits.thin_from > 0 ? limits.thin_from : std::numeric_limits<std::size_t>::max();
  while (scanner.next_row()) {
    if (table.cells.rows() >= thin_at) {
      limits.drop_rows(table);
      thin_at = std::max(thin_at, 2 * table.cells.rows());
    }
    const auto [count, line] = scanner.blank_lines();
    if (!one_column) table.skipped_blank_lines += count;
    // A row of one empty cell is a blank line.
    for (std::size_t k = 0; one_column && k < count; ++k) {
      require_room();
      double* const cell = table.cells.append_row();
      *cell = table.from_nothing(0, "", line);
    }
    require_room();
    read_data_row(scanner, table, first_line);
  }
  if (one_column) table.skipped_blank_lines = blank_at_top + scanner.blank_lines().count;
  if (table.rows_read() == 0) {
    fail_at(ErrorCode::empty_sample, table.source, "the file has a header and nothing below it", "rows of numbers");
  }
  return table;
}

}  // namespace kqd
