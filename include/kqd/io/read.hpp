#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kqd/core/error.hpp"   // Error, ErrorCode
#include "kqd/core/sample.hpp"  // Sample
#include "kqd/core/types.hpp"   // Seed, ThreadCount
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/csv_format.hpp"   // CsvFormat
#include "kqd/io/encoding.hpp"     // TableEncoding
#include "kqd/io/preparation.hpp"  // Categorical, NaPolicy, Standardize, Preparation

namespace kqd KQD_PUBLIC {

/// Options for reading. By default the types of columns are inferred from all samples, and missing values are marked by
/// a column of their own (docs/guide/data.md).
struct ReadOptions {
  /// The columns to compare and the columns to exclude, as lists such as "age, temp_*, a..d, 3-7": names, numbers
  /// from 1, ranges by number or between two names, and globs (* and ?). A name goes before a number. A name in double
  /// quotes is taken literally, and "" means the columns without a name. Positions are those in X. Empty: all
  /// columns, none.
  std::string columns = {};
  std::string drop = {};
  /// The column that holds the weights of the rows: its name, or its number from 1 in a file without names. It is taken
  /// out of the points. Empty: no weights.
  std::string weights_column = {};
  /// The column whose value, a number or a text, names the block or cluster of a row; also taken out of the points.
  std::string unit_column = {};
  Categorical categorical = Categorical::automatic;
  /// Types of columns, as a list such as "plan=category, day=date-dmy": columns as above, and number, category, text
  /// (hashed), date, date-dmy, date-mdy (the order of day and month) or id (excluded). A text in a column of numbers
  /// counts as missing.
  std::string types = {};
  /// Dates and times are numbers: days since 1970-01-01. With Categorical::automatic they are anyway.
  bool dates = false;
  NaPolicy na = NaPolicy::indicator;
  /// Texts or numbers that mean "missing", in addition to the usual spellings.
  std::vector<std::string> na_values = {};
  /// Whether spellings such as NA, none, - and ? mean "missing". Without them only an empty cell and `na_values` do.
  bool default_na = true;
  Standardize standardize = Standardize::automatic;
  /// The largest number of rows of each sample; more are subsampled at random by `seed`; 0: all. The other rows of a
  /// CSV text are dropped while it is read.
  std::uint64_t max_rows = 0;
  Seed seed = {};
  /// Row i of X belongs to row i of Y: they stay or leave together.
  bool paired = false;
  /// The format of CSV and TSV files.
  CsvFormat csv = {};
  /// Bytes that the numbers of a CSV text of unknown size (compressed, or from a pipe) may take; 0: no bound. Beyond it
  /// reading ends with Error{resource_limit}.
  std::size_t max_memory = 0;
  /// Threads that DuckDB may use. Changes the speed, not the result.
  ThreadCount threads = {};
  /// NPY files of doubles in C order may be mapped into memory instead of read: no copy is made. The file must not be
  /// shortened or rewritten while the sample exists: the system ends a process that reads missing pages (SIGBUS).
  bool map_files = false;
  /// Of several samples: SampleList::encoding shall be made, and constant columns stay, because later tables may have
  /// other values there. A single sample is then its own pool.
  bool keep_encoding = false;
  /// Columns become numbers as those of an earlier table did. Null: as this pool says.
  std::shared_ptr<const TableEncoding> like = nullptr;
};

/// Two samples whose columns mean the same, one by one.
struct SamplePair {
  Sample x;
  Sample y;
  Warnings notes;  ///< sentences a user should see: columns reordered, a header that may be data
  /// With a unit column: the block or cluster of each row of X, then of Y. Whole numbers up to 2^53 are kept
  /// as they are.
  std::vector<std::int64_t> units = {};
  Preparation preparation = {};
  /// The number of each row of X and of Y among the rows of its input, from 1; empty: 1, 2, 3, ...
  std::vector<std::size_t> rows_x = {};
  std::vector<std::size_t> rows_y = {};
  Warnings warnings = {};  ///< sentences that belong to the result: data that may be a header
  /// The names of units 0, 1, 2, ... in messages; empty: their numbers.
  std::vector<std::string> unit_names = {};
};

/// One sample from a file, in the format of its suffix, in capitals or not: .csv, .tsv, .npy, .idx (each may be
/// followed by .gz), .npz or .npz:KEY; through DuckDB (duckdb_version()) .parquet, .json, .jsonl, .ndjson and
/// "sql:SELECT ...";
/// "-" is standard input, whose format (CSV, NPY or idx, compressed or not) is detected from its first bytes.
///
/// CSV: the delimiter (comma, semicolon, tab or bar; tab only in .tsv) and the header are auto-detected. A first
/// row with a cell that is neither a number nor a spelling of "missing" is a header, and so is an empty cell followed
/// by 0, 1, 2, ... as pandas writes. Quotes, quoted newlines, a byte order mark, blank lines (missing values, between
/// those of one column) and lines that start with # are understood. NPY: versions 1 to 3, numbers and booleans of
/// either byte order, rows first in either memory order; one dimension is one column, and dimensions from the third on
/// are laid flat next to the second, as reshape(n, -1) does. Every value becomes the nearest double, and a whole number
/// beyond 2^53 that is not one is refused (a pair compares them exactly). Cost: one pass; memory is the matrix and a
/// few MiB (a pipe in NPY format and Fortran order is held twice), and at most 64 MiB of different texts. Throws
/// Error{unreadable_input, empty_sample, non_finite_value, invalid_option, invalid_weights}: one sentence with the
/// file, the line or row, the column and the value. No missing, NaN or infinite value passes.
[[nodiscard]] Sample read_sample(const std::string& path, const ReadOptions& options = {});

/// Two samples from two files, with the columns of y in the order of x.
///
/// Columns are matched by name when both files have names, by position otherwise; both samples then carry the names.
/// Categories, medians and scales are those of both samples together, computed without labels: a test of the result
/// is as exact as one of the input. Throws what read_sample throws, and Error{shape_mismatch} listing the columns that
/// only one file has, or both counts.
[[nodiscard]] SamplePair read_pair(const std::string& path_x, const std::string& path_y,
                                   const ReadOptions& options = {});

/// Two samples from one file, split by a column with exactly two different values, numbers or texts: the first
/// value met is X. The column, named as weights_column is, is taken out of the points.
/// Throws what read_pair throws, and Error{invalid_option} listing the values if they are not two.
[[nodiscard]] SamplePair read_grouped(const std::string& path, const std::string& group_column,
                                      const ReadOptions& options = {});

/// Several samples whose columns mean the same, one by one.
struct SampleList {
  std::vector<Sample> samples;
  Warnings notes;  ///< as of a pair
  std::vector<RowCounts> rows = {};
  Preparation preparation = {};  ///< of the columns; its rows are those of the first two
  Warnings warnings = {};        ///< as of a pair
  /// As of a pair, of the rows of all samples in their order.
  std::vector<std::int64_t> units = {};
  std::vector<std::string> unit_names = {};
  std::optional<TableEncoding> encoding = {};  ///< with ReadOptions::keep_encoding
};

/// Several samples from several files, with the columns of all in the order of the first: as read_pair, file by file.
[[nodiscard]] SampleList read_samples(const std::vector<std::string>& paths, const ReadOptions& options = {});

/// Cells as texts, for kernels of objects (kqd/kernel/objects.hpp).
struct TextList {
  std::vector<std::string> columns;                            ///< names, or numbers from 1
  std::vector<std::vector<std::vector<std::string>>> samples;  ///< per sample, row and column
  std::vector<std::vector<std::size_t>> rows;  ///< per sample, the number of each row in its file, from 1
  Preparation preparation = {};
  Warnings notes = {};
};

/// The columns to compare (ReadOptions::columns and drop) as texts, of several files, or of one that a group column
/// splits into two samples. Throws what read_samples() and read_grouped() throw; an empty cell is an error, and so are
/// more than 65536 different texts in a column.
[[nodiscard]] TextList read_texts(const std::vector<std::string>& paths, const ReadOptions& options = {},
                                  const std::string& group_column = "");

/// The names of both samples in one file: "both.npz:x" and "both.npz:y" for an archive that holds these two arrays.
/// Nothing for a path of another kind. Throws Error{unreadable_input} for an archive without them, listing its arrays.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> samples_within(const std::string& path);

/// The suffixes read_sample knows, in the order in which messages list them: ".csv", ".tsv", ".npy", ... Those
/// read in one pass (.csv, .tsv, .npy, .idx) may be followed by .gz.
[[nodiscard]] std::vector<std::string> known_suffixes();

}  // namespace kqd
