#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/blocked_rows.hpp"
#include "io/cell.hpp"
#include "io/text_dictionary.hpp"
#include "io/text_rules.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/preparation.hpp"  // RowCounts

namespace kqd {

/// A cell that a message may have to name: its place and its text.
struct Place {
  std::size_t line = 0;  ///< or row, from 1; 0: there is no such cell
  std::string text;
};

/// The difference between a whole number and the double in its cell.
struct Remainder {
  std::size_t row = 0;  ///< from 0
  std::int64_t value = 0;
};

/// A number that is not written as shortest() writes it.
struct SpelledNumber {
  std::size_t row = 0;         ///< from 0
  std::uint32_t spelling = 0;  ///< its number among the spellings of the column
};

/// A column without its cells.
struct Column {
  std::string name;  ///< empty in a table without names
  std::size_t num_missing = 0;
  std::size_t num_texts = 0;  ///< cells of text, equal ones counted each
  std::size_t num_dates = 0;
  Place first_missing;
  Place first_infinite;  ///< infinite, or too large for a double; the cell holds an infinity
  Place first_date;
  Place first_rounded;                    ///< a number that says more than its double; none: remainders do not count
  std::vector<Remainder> remainders;      ///< of whole numbers that are not doubles, in the order of the rows
  bool has_unknown_remainder = false;     ///< one of them has more than 64 bits
  std::unique_ptr<TextDictionary> texts;  ///< of a column with a cell of text; none otherwise

  std::unique_ptr<TextDictionary> spellings;  ///< of numbers that shortest() may write otherwise: 01, 1.0
  std::vector<SpelledNumber> spelled;         ///< such numbers, in the order of the rows
  bool keeps_spellings = true;                ///< false: there are too many

  std::optional<ColumnType> declared;  ///< the type that the user declares
  DateOrder date_order = DateOrder::unknown;
  std::vector<std::string> levels;  ///< of a column that is declared ordered, ascending; empty: those of numbers

  [[nodiscard]] bool has_text() const { return texts != nullptr; }
};

/// True when shortest() surely writes a number as this text.
[[nodiscard]] bool is_surely_shortest(std::string_view text);

/// Rows that were read and that the table no longer holds, because others were drawn (rows.hpp).
struct DroppedRows {
  std::size_t count = 0;
  std::vector<double> first_rows = {};  ///< the cells of the first two rows of the input

  /// Where a row that was held when rows were dropped last comes from.
  struct HeldRow {
    std::size_t number = 0;  ///< among the rows of the input, from 0
    std::size_t place = 0;   ///< among those of its sample, from 0
  };
  std::vector<HeldRow> held = {};

  // Per sample of the input, one or two:
  std::vector<RowCounts> counts = {};
  std::vector<double> group_values = {};  ///< cells of the group column, in the order of the samples
  std::size_t ungrouped = 0;

  /// Per column of the table: missing values in the rows of each sample that are no longer held. Empty: none.
  std::vector<std::array<std::size_t, 2>> missing = {};
};

/// The result of every reader: at least one row and one column of cells (cell.hpp). The roles of columns and the
/// treatment of cells that are not numbers are decided later (roles.hpp, cell_checks.hpp).
///
/// A reader gives each cell its value by from_number() or from_text(), which also update the counts of the columns.
struct Table {
  /// A table with a column for each of `names`, all different but for empty ones; or one of `cols` columns without
  /// names.
  Table(std::string from, std::vector<std::string> names, TextRules text_rules);
  Table(std::string from, std::size_t cols, TextRules text_rules);

  /// The cell for a number in line (or row) `line` of column `column`, from 0. NaN is missing.
  [[nodiscard]] double from_number(std::size_t column, double value, std::size_t line) {
    const bool plain = std::isfinite(value) && (rules.missing_numbers.empty() || !rules.is_missing_number(value));
    return plain ? value : from_other_number(column, value, line);
  }
  /// Keeps the difference between a whole number of 64 bits and the double in row `row`, from 0.
  template <class Whole>
  void keep_exact(std::size_t column, Whole value, std::size_t row) {
    if (const std::int64_t lacking = rounded_off(value); lacking != 0) {
      add_remainder(column, {row, lacking}, row + 1, std::to_string(value));
    }
  }
  /// Keeps the spelling of the number in row `row`, from 0, for the case that its column turns out to hold text.
  void note_spelling(std::size_t column, double value, std::string_view text, std::size_t row) {
    if (columns[column].keeps_spellings && !is_surely_shortest(text)) keep_spelling(column, value, text, row);
  }
  /// The cell for a text without blanks around it: a number, a spelling of "missing", a date if the rules say so, or
  /// else a text.
  [[nodiscard]] double from_text(std::size_t column, std::string_view text, std::size_t line);
  /// The cell for a text that is not a spelling of anything else.
  [[nodiscard]] double from_category(std::size_t column, std::string_view text, std::size_t line) {
    return add_text(columns[column], text, line);
  }
  /// The cell for a text as other languages have it: a date if the rules say so, or else a text.
  [[nodiscard]] double from_word(std::size_t column, std::string_view text, std::size_t line);
  /// The cell for no value at all, such as NULL.
  [[nodiscard]] double from_nothing(std::size_t column, std::string_view spelling, std::size_t line);

  /// Numbers of a column of text become texts as they are written.
  void spell_out(std::size_t column);

  /// Drops the rows of `cells`, which were read and used; counts and places of the columns stay.
  void start_next_block();

  [[nodiscard]] std::size_t rows_read() const { return dropped.count + cells.rows(); }
  /// The number among all rows of the input of a row in `cells`, from 0.
  [[nodiscard]] std::size_t number_of(std::size_t row) const {
    return row < dropped.held.size() ? dropped.held[row].number : dropped.count + row;
  }

  /// The place of a message about a cell, "data.csv:17" or "data.npy", and the cell there: "column "height"" or
  /// "row 17, column 3".
  [[nodiscard]] std::string place_of(std::size_t line) const;
  [[nodiscard]] std::string cell_of(std::size_t column, std::size_t line) const;

  /// "height" in quotes, or 3 in a table without names: the name of a column in a message.
  [[nodiscard]] std::string label_of(std::size_t column) const;

  /// Its name, or its number from 1 in a table without names: the name of a column in a report.
  [[nodiscard]] std::string name_of(std::size_t column) const;

  std::string source;  ///< starts every message about the table
  bool has_names = false;
  bool has_lines = false;  ///< places are lines of a text, not rows of a matrix
  std::vector<Column> columns;
  std::vector<std::size_t> row_shape;  ///< of an array of more than two dimensions: all but the first; else empty
  BlockedRows cells;
  DroppedRows dropped;
  TextRules rules;
  Warnings notes;                    ///< sentences about choices the reader made that a user may want to undo
  std::size_t undecided_header = 0;  ///< the line that was taken as data because all of its cells are numbers; 0: none
  /// Blank lines of a text that may have been rows: in several columns those between rows; in one column, where those
  /// are missing values, those at its beginning and end.
  std::size_t skipped_blank_lines = 0;
  std::size_t header_in_data = 0;  ///< the line that looks like a header but was read as data on request; 0: none

 private:
  [[nodiscard]] double from_other_number(std::size_t column, double value, std::size_t line);
  void keep_spelling(std::size_t column, double value, std::string_view text, std::size_t row);
  [[nodiscard]] double from_date(Column& column, double days, std::string_view text, std::size_t line);
  void declare_types();
  [[nodiscard]] double add_text(Column& column, std::string_view text, std::size_t line);
  void add_remainder(std::size_t column, const Remainder& remainder, std::size_t line, std::string_view text);

  /// Texts of all columns together take no more than this: memory stays bounded whatever the file contains.
  std::size_t text_bytes_left_ = std::size_t{64} << 20U;
  std::size_t spelling_bytes_left_ = std::size_t{8} << 20U;
};

/// A table of the same columns without rows.
[[nodiscard]] Table header_of(const Table& table);

}  // namespace kqd
