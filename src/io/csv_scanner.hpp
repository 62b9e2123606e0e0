#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.hpp"
#include "kqd/io/csv_format.hpp"  // CsvFormat

namespace kqd {

/// Cuts CSV text into rows and cells, in one pass and with one buffer.
///
/// After next_row() returned true, cells are read one by one until at_row_end(). Every line end counts as a line (LF,
/// CRLF or CR), also within quotes. Messages name the line where the row starts and the column, both from 1.
class CsvScanner {
 public:
  /// The text is read in pieces of `buffer_bytes`, and no cell may be longer.
  CsvScanner(ByteSource& source, const CsvFormat& format, std::size_t buffer_bytes);

  /// Goes to the next row that is neither blank nor a comment; false when there is none.
  [[nodiscard]] bool next_row();

  /// Blank lines that the last next_row() passed, and the first of them.
  struct BlankLines {
    std::size_t count = 0;
    std::size_t first_line = 0;
  };
  [[nodiscard]] const BlankLines& blank_lines() const { return blank_lines_; }

  /// Reads the next cell if it is a plain finite number that ends well within the buffer. The fast way: when it returns
  /// false, nothing was read, and read_text() returns the cell.
  [[nodiscard]] bool read_number(double& value);

  /// How the number that read_number() read last is written. Valid until the next call.
  [[nodiscard]] std::string_view number_text() const { return number_text_; }

  /// Reads the next cell, whatever it is: without quotes and the blanks around it. Valid until the next call.
  [[nodiscard]] std::string_view read_text();

  /// Passes the rest of the row.
  void skip_row();

  /// Whether the cell read last was the last of its row.
  [[nodiscard]] bool at_row_end() const { return at_row_end_; }

  [[nodiscard]] std::size_t line() const { return line_; }      ///< where the row starts
  [[nodiscard]] std::size_t column() const { return column_; }  ///< of the cell read last

 private:
  void skip_byte_order_mark();
  [[nodiscard]] bool refill();
  [[nodiscard]] bool at_end();
  [[nodiscard]] bool at_comment();
  void skip_line();
  void skip_line_end();
  [[nodiscard]] bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter_ != '\t'); }
  [[nodiscard]] bool ends_cell(char c) const { return c == delimiter_ || c == '\n' || c == '\r'; }
  [[nodiscard]] const char* skip_blanks(const char* p) const;
  [[nodiscard]] std::string_view trimmed(std::string_view text) const;
  [[nodiscard]] const char* find_closing_quote(const char* p) const;
  [[nodiscard]] const char* find_cell_end() const;
  [[nodiscard]] std::string_view unquoted(std::string_view cell);
  void finish_cell(const char* end);

  ByteSource& source_;
  std::vector<char> buffer_;  // one byte longer than what is read: a 0 always follows the text
  const char* cursor_ = nullptr;
  const char* end_ = nullptr;
  bool exhausted_ = false;  // the source has no bytes beyond end_
  char delimiter_ = 0;
  char quote_ = '"';
  bool decimal_comma_;
  std::string_view number_text_;
  std::string text_;  // of the last cell, if it had to be unquoted
  BlankLines blank_lines_;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  std::size_t column_ = 0;
  bool at_row_end_ = true;
  bool after_carriage_return_ = false;  // a line feed that follows belongs to the line end already seen
};

}  // namespace kqd
