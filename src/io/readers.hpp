#pragma once
#include <string>
#include <string_view>

#include "io/csv.hpp"  // Thinning
#include "io/table.hpp"
#include "kqd/core/types.hpp"
#include "kqd/io/csv_format.hpp"

namespace kqd {

/// What readers are told besides the path.
struct ReaderOptions {
  TextRules rules = {};
  CsvFormat csv = {};          ///< of text files
  ThreadCount threads = {};    ///< of DuckDB
  std::size_t max_memory = 0;  ///< of the cells of CSV text of unknown size; 0: no bound
  Thinning thinning = {};      ///< of text files
  bool map_files = false;      ///< arrays may be mapped instead of read (ReadOptions::map_files)
};

/// Whether a path stands for standard input: -, or the name the system has for it.
[[nodiscard]] bool is_standard_input(std::string_view path);

/// The table in a file, in the format its name tells; formats are entries of one list in readers.cpp. Standard input
/// and what a shell's <(...) stands for tell their format by their first bytes. Throws what the reader of the format
/// throws, and Error{unreadable_input} naming the known suffixes when the path has none of them, or the kind of file it
/// is when its bytes start like another format's.
[[nodiscard]] Table read_table(const std::string& path, const ReaderOptions& options);

}  // namespace kqd
