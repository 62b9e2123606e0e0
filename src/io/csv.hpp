#pragma once
#include <cstddef>
#include <functional>

#include "io/byte_source.hpp"
#include "io/csv_scanner.hpp"
#include "io/table.hpp"
#include "kqd/io/csv_format.hpp"

namespace kqd {

/// Bounds on what a reader of text holds at a time.
struct CsvLimits {
  std::size_t max_memory = 0;                        ///< bytes of cells of a text of unknown size; 0: no bound
  std::size_t buffer_bytes = std::size_t{1} << 20U;  ///< the text is read in such pieces; no cell may be longer
  std::size_t thin_from = 0;                         ///< rows from which on `drop_rows` is called; 0: never
  std::function<void(Table& table)> drop_rows = {};  ///< drops rows that will not be drawn
};

/// A CSV text that is read some rows at a time.
class CsvReader {
 public:
  /// Reads the header, or the first row if that holds data. The source must outlive the reader. Throws
  /// Error{unreadable_input, empty_sample}.
  CsvReader(ByteSource& source, const CsvFormat& format, const TextRules& rules, const CsvLimits& limits);

  [[nodiscard]] Table& table() { return table_; }
  /// Reads on until the table holds `most_rows` rows; false when the text ended before. Throws
  /// Error{unreadable_input} with line, column and value.
  bool read(std::size_t most_rows);
  /// Passes all other rows without a look at their cells but for where they end; returns how many rows there are.
  [[nodiscard]] std::size_t count_rows();

 private:
  void read_data_row();
  void require_room();

  CsvLimits limits_;
  CsvScanner scanner_;
  std::size_t first_line_ = 0;
  std::size_t blank_at_top_ = 0;
  Table table_;
  std::size_t most_rows_;
  std::size_t thin_at_;
};

/// The cells of a CSV text, with the names of its header if it has one.
/// Throws Error{unreadable_input, empty_sample} with line, column and value.
[[nodiscard]] Table read_csv(ByteSource& source, const CsvFormat& format = {}, const TextRules& rules = {},
                             const CsvLimits& limits = {});

}  // namespace kqd
