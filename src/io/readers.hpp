#pragma once
#include <string>

#include "io/table.hpp"

namespace kqd {

/// The table in a file, in the format its suffix names. Formats are entries of one list in readers.cpp.
/// Throws what the reader of the format throws, and Error{unreadable_input} naming the known suffixes when the path has
/// none of them.
[[nodiscard]] Table read_table(const std::string& path, const TextRules& rules);

}  // namespace kqd
