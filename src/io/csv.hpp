#pragma once
#include "io/byte_source.hpp"
#include "io/csv_scanner.hpp"  // CsvOptions
#include "io/table.hpp"

namespace kqd {

/// The numbers of a CSV text, with the names of its header if it has one.
/// Throws Error{unreadable_input, empty_sample, non_finite_value} with line, column and value.
[[nodiscard]] Table read_csv(ByteSource& source, const CsvOptions& options = {});

}  // namespace kqd
