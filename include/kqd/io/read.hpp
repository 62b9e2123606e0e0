#pragma once
#include <string>
#include <vector>

#include "kqd/core/error.hpp"     // Error, ErrorCode
#include "kqd/core/sample.hpp"    // Sample
#include "kqd/core/types.hpp"     // ThreadCount
#include "kqd/io/csv_format.hpp"  // CsvFormat

namespace kqd {

/// What a caller may choose about reading. The defaults read every column as data.
struct ReadOptions {
  /// The column that holds the weights of the rows: its name, or its number from 1 in a file without names. It is taken
  /// out of the points. Empty: no weights.
  std::string weights_column;
  /// What is known about the text of CSV and TSV files.
  CsvFormat csv;
  /// Threads that DuckDB may use. Changes the speed, not the result.
  ThreadCount threads;
  /// NPY files of doubles in C order may be mapped into memory instead of read: no copy is made. Whoever asks for it
  /// vouches that no one shortens or rewrites the file while the sample lives: the system ends a process that touches
  /// what is gone (SIGBUS).
  bool map_files = false;
};

/// Two samples whose columns mean the same, one by one.
struct SamplePair {
  Sample x;
  Sample y;
  std::vector<std::string> notes;  ///< sentences a user should see: columns reordered, a header that may be none
};

/// One sample from a file, in the format its suffix names: .csv, .tsv or .npy, in capitals or not.
///
/// CSV: the delimiter (comma, semicolon, tab or bar; tab alone in .tsv) and the header are found by looking. A first
/// row with a cell that is neither a number nor a spelling of "missing" is a header. Quotes, quoted newlines, a byte
/// order mark, blank lines and lines that start with # are understood. NPY: versions 1 to 3, numbers and booleans of
/// either byte order, rows first in either memory order; one dimension is one column, and dimensions from the third on
/// are laid flat beside the second, as reshape(n, -1) does. Every value becomes the nearest double. Cost: one pass;
/// memory is the matrix and a few MiB (a pipe in NPY format is held twice). Throws Error{unreadable_input,
/// empty_sample, non_finite_value, invalid_option, invalid_weights}: one sentence with the file, the line or row, the
/// column and the value. No missing, NaN or infinite value passes.
[[nodiscard]] Sample read_sample(const std::string& path, const ReadOptions& options = {});

/// Two samples from two files, with the columns of y in the order of x.
///
/// Columns are matched by name when both files have names, by position otherwise; both samples then carry the names.
/// Throws what read_sample throws, and Error{shape_mismatch} listing the columns that only one file has, or both
/// counts.
[[nodiscard]] SamplePair read_pair(const std::string& path_x, const std::string& path_y,
                                   const ReadOptions& options = {});

/// The suffixes read_sample knows, in the order in which messages list them: ".csv", ".tsv", ".npy".
[[nodiscard]] std::vector<std::string> known_suffixes();

}  // namespace kqd
