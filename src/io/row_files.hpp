#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/function_ref.hpp"
#include "io/readers.hpp"
#include "io/roles.hpp"
#include "kqd/core/matrix_view.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/io/read.hpp"

namespace kqd {

/// Some rows of one file that follow each other.
struct FileRows {
  std::size_t file = 0;         ///< its number
  std::uint64_t first_row = 0;  ///< in the file, from 0
  MatrixView<const double> rows;
  std::span<const char> missing;  ///< 1 for each row with a missing value; empty: no row has one
  /// Of each row without a missing value, with a column of units and after code_units(): the code of its unit.
  std::span<const std::uint64_t> units;
};

/// Columns that files must have: those of a sample that was read before.
struct ExpectedColumns {
  std::string source;              ///< names it in messages
  std::size_t count = 0;           ///< 0: none are expected
  std::vector<std::string> names;  ///< empty: none are known
};

/// Files of one sample whose rows are read in blocks, as often as needed, in memory that does not grow with them. Cells
/// are judged as those of files that are read as a whole.
class RowFiles {
 public:
  struct File {
    std::string path;
    std::uint64_t num_bytes = 0;
    std::optional<std::uint64_t> num_rows = {};  ///< known from the beginning, or after count_rows()
    std::int64_t changed_at = 0;                 ///< nanoseconds, by the clock of the file system
    Roles roles = {};
  };

  RowFiles(std::vector<File> files, const ReadOptions& options, std::vector<std::string> column_names);

  [[nodiscard]] const std::vector<File>& files() const { return files_; }
  [[nodiscard]] const std::vector<std::string>& column_names() const { return column_names_; }
  [[nodiscard]] std::size_t num_columns() const { return files_.front().roles.points.size(); }

  /// Counts the rows of files that do not say how many they have.
  void count_rows(ThreadCount threads);

  /// Calls body(rows) for all rows, from several threads, in any order. Throws for cells that are not numbers, and
  /// Error{unreadable_input} for a file that changed since it was opened. With `marks`, columns of text are marked
  /// there and left to the caller; without, they are refused. Needs count_rows().
  void read(ThreadCount threads, std::vector<bool>* marks, FunctionRef<void(const FileRows& rows)> body) const;

  /// From now on only the columns at these places.
  void keep_columns(std::span<const std::size_t> places);

  /// From now on blocks have code(text) of each row, by the value of its unit (ReadOptions::unit_column); numbers are
  /// written as short as possible. Called from several threads.
  void code_units(std::function<std::uint64_t(std::string_view text)> code) { unit_code_ = std::move(code); }

 private:
  std::vector<File> files_;
  ReadOptions options_;
  std::vector<std::string> column_names_;
  std::function<std::uint64_t(std::string_view)> unit_code_ = {};
};

/// Types and missing values are not inferred where rows are read in blocks: by default both are refused there.
[[nodiscard]] ReadOptions without_inference(const ReadOptions& options);

/// Opens the files of several samples, whose columns are matched with each other, and with `expected` columns if there
/// are any. Throws Error{invalid_option} for options that need all rows at a time, and what the readers throw.
[[nodiscard]] std::vector<RowFiles> open_row_files(const std::vector<std::vector<std::string>>& samples,
                                                   const ExpectedColumns& expected, const ReadOptions& options,
                                                   Warnings& notes);

}  // namespace kqd
