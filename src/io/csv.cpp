#include "io/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/executor.hpp"
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

// The scanner at the first row.
CsvScanner& at_first_row(CsvScanner& scanner, const ByteSource& source) {
  if (!scanner.next_row()) {
    fail_at(ErrorCode::empty_sample, source.name(), "the file is empty or has only blank lines and comments",
            "rows of numbers");
  }
  return scanner;
}

TextRules with_comma(TextRules rules, const CsvFormat& format) {
  rules.decimal_comma = format.decimal_comma;
  return rules;
}

}  // namespace

CsvReader::CsvReader(ByteSource& source, const CsvFormat& format, const TextRules& rules, const CsvLimits& limits)
    : limits_(limits),
      scanner_(source, format, limits.buffer_bytes),
      first_line_(at_first_row(scanner_, source).line()),
      blank_at_top_(scanner_.blank_lines().count),
      table_(begin_table(source.name(), read_first_row(scanner_), format.header, with_comma(rules, format))),
      most_rows_(source.size() || limits.max_memory == 0 ? std::numeric_limits<std::size_t>::max()
                                                         : limits.max_memory / (table_.cells.cols() * sizeof(double))),
      thin_at_(limits.thin_from > 0 ? limits.thin_from : std::numeric_limits<std::size_t>::max()) {}

void CsvReader::require_room() {
  if (table_.cells.rows() < most_rows_) return;
  fail_at(ErrorCode::resource_limit, fmt::format("{}:{}", table_.source, scanner_.line()),
          fmt::format("the rows so far take more than the limit on memory ({} MB)", limits_.max_memory / 1'000'000), "",
          "To allow more: " KQD_OPTION("max_memory") "; to draw some of the rows: " KQD_OPTION("max_rows"));
}

void CsvReader::read_data_row() {
  double* row = table_.cells.append_row();
  const std::size_t cols = table_.cells.cols();
  const bool some_mean_missing = !table_.rules.missing_numbers.empty();
  for (std::size_t j = 0; j < cols; ++j) {
    if (!scanner_.read_number(row[j])) {
      row[j] = table_.from_text(j, scanner_.read_text(), scanner_.line());
    } else {
      if (some_mean_missing) row[j] = table_.from_number(j, row[j], scanner_.line());
      table_.note_spelling(j, row[j], scanner_.number_text(), table_.cells.rows() - 1);
    }
    if (scanner_.at_row_end() != (j + 1 == cols)) fail_ragged(scanner_, table_, first_line_);
  }
}

bool CsvReader::read(std::size_t most_rows) {
  const bool one_column = table_.cells.cols() == 1;
  while (table_.cells.rows() < most_rows) {
    if (!scanner_.next_row()) {
      if (one_column) table_.skipped_blank_lines = blank_at_top_ + scanner_.blank_lines().count;
      return false;
    }
    if (table_.cells.rows() >= thin_at_) {
      limits_.drop_rows(table_);
      thin_at_ = std::max(thin_at_, 2 * table_.cells.rows());
    }
    const auto [count, line] = scanner_.blank_lines();
    if (!one_column) table_.skipped_blank_lines += count;
    // A row of one empty cell is a blank line.
    for (std::size_t k = 0; one_column && k < count; ++k) {
      require_room();
      double* const cell = table_.cells.append_row();
      *cell = table_.from_nothing(0, "", line);
    }
    require_room();
    read_data_row();
  }
  return true;
}

std::size_t CsvReader::count_rows() {
  constexpr std::size_t kRowsPerStop = 4096;
  std::size_t rows = table_.rows_read();
  while (scanner_.next_row()) {
    if (table_.cells.cols() == 1) rows += scanner_.blank_lines().count;
    scanner_.skip_row();
    if (++rows % kRowsPerStop == 0) stop_point();
  }
  return rows;
}

Table read_csv(ByteSource& source, const CsvFormat& format, const TextRules& rules, const CsvLimits& limits) {
  CsvReader reader(source, format, rules, limits);
  while (reader.read(std::numeric_limits<std::size_t>::max())) {
  }
  if (reader.table().rows_read() == 0) {
    fail_at(ErrorCode::empty_sample, source.name(), "the file has a header and nothing below it", "rows of numbers");
  }
  return std::move(reader.table());
}

}  // namespace kqd
