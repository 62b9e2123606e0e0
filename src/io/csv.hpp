#pragma once
#include <functional>

#include "io/byte_source.hpp"
#include "io/csv_scanner.hpp"  // CsvOptions
#include "io/table.hpp"

namespace kqd {

/// How a reader keeps a table small that rows are drawn from.
struct Thinning {
  std::size_t num_rows = 0;                          ///< rows from which on it calls `drop_rows`; 0: never
  std::function<void(Table& table)> drop_rows = {};  ///< drops rows that will not be drawn
};

/// The cells of a CSV text, with the names of its header if it has one.
/// Throws Error{unreadable_input, empty_sample} with line, column and value.
[[nodiscard]] Table read_csv(ByteSource& source, const CsvOptions& options = {}, const TextRules& rules = {},
                             const Thinning& thinning = {});

}  // namespace kqd
