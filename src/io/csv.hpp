#pragma once
#include "io/byte_source.hpp"
#include "io/csv_scanner.hpp"  // CsvOptions
#include "io/table.hpp"

namespace kqd {

/// The cells of a CSV text, with the names of its header if it has one.
/// Throws Error{unreadable_input, empty_sample} with line, column and value.
[[nodiscard]] Table read_csv(ByteSource& source, const CsvOptions& options = {}, const TextRules& rules = {});

}  // namespace kqd
