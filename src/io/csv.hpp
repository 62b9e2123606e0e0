#pragma once
#include <functional>

#include "io/byte_source.hpp"
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

/// The cells of a CSV text, with the names of its header if it has one.
/// Throws Error{unreadable_input, empty_sample} with line, column and value.
[[nodiscard]] Table read_csv(ByteSource& source, const CsvFormat& format = {}, const TextRules& rules = {},
                             const CsvLimits& limits = {});

}  // namespace kqd
