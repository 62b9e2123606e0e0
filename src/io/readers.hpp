#pragma once
#include <string>
#include <string_view>

#include "io/csv.hpp"  // CsvLimits
#include "io/table.hpp"
#include "kqd/core/types.hpp"
#include "kqd/io/csv_format.hpp"
#include "kqd/io/read.hpp"

namespace kqd {

/// Options of readers.
struct ReaderOptions {
  TextRules rules = {};
  CsvFormat csv = {};        ///< of text files
  ThreadCount threads = {};  ///< of DuckDB
  CsvLimits limits = {};     ///< of text files
  bool map_files = false;    ///< arrays may be mapped instead of read (ReadOptions::map_files)
};

/// Those that follow from the options for reading a sample.
[[nodiscard]] ReaderOptions reader_options_of(const ReadOptions& options);

/// True for the paths of standard input: -, or the name the system has for it.
[[nodiscard]] bool is_standard_input(std::string_view path);

/// The table in a file, in the format of its suffix; formats are entries of one list in readers.cpp. The format of
/// standard input and of a shell's <(...) is detected from the first bytes. Throws what the reader of the format
/// throws, and Error{unreadable_input} naming the known suffixes when the path has none of them, or the kind of file it
/// is when its bytes start like another format's.
[[nodiscard]] Table read_table(const std::string& path, const ReaderOptions& options);

}  // namespace kqd
