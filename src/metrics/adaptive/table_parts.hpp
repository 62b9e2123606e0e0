#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/sample.hpp"
#include "profile/column_scales.hpp"
#include "profile/function_set.hpp"

namespace kqd {

/// Columns of rows that belong together: one quantity, the levels of one category, or the mark of missing values.
struct TablePart {
  ColumnKind kind = ColumnKind::number;
  std::size_t source = 0;            ///< parts of one source come from one column of the table
  std::vector<std::size_t> columns;  ///< of the rows; several only of a category
};

/// The columns of rows by what they are.
struct TableParts {
  std::vector<TablePart> parts;
  MissingMarks marks;  ///< of numbers

  /// Some columns are levels or marks.
  [[nodiscard]] bool mixed() const;
  [[nodiscard]] std::size_t num_sources() const;
  /// Columns of all parts of this kind, ascending.
  [[nodiscard]] std::vector<std::size_t> columns_of(ColumnKind kind) const;
};

/// The roles of columns. Where none are given, two or more neighbouring columns of two values each are the levels of a
/// category if every row of the pool has the higher value in exactly one of them. A function of the unlabelled pool.
[[nodiscard]] std::vector<ColumnRole> roles_of_columns(const Pool& rows, std::span<const ColumnRole> given);

/// Numbers, each of its own source.
[[nodiscard]] std::vector<ColumnRole> roles_of_numbers(std::size_t num_columns);

/// The parts of rows that have these columns of a table. The mark of missing values of a category is one of its levels.
[[nodiscard]] TableParts table_parts(std::span<const ColumnRole> roles, const std::vector<std::size_t>& columns);

/// A column that is a level or a mark: its two values, and the share of the rows that have the higher one.
struct LevelColumn {
  double low = 0.0;
  double high = 0.0;
  double share = 0.0;

  /// The distance of the values; 1 of a column of one value.
  [[nodiscard]] double width() const { return high > low ? high - low : 1.0; }
};

/// One per column of the rows; those of numbers are not filled.
[[nodiscard]] std::vector<LevelColumn> level_columns(const Pool& rows, const TableParts& parts);
/// The most frequent levels of a category, in the order of the columns.
[[nodiscard]] TablePart most_frequent(const TablePart& part, std::size_t most, const std::vector<LevelColumn>& levels);

/// Gives the levels of a category one scale, in which it counts as one column: the mean squared distance of two rows is
/// that of a number of variance 1, or less if nearly all rows have one level. Rare levels count no more than others.
/// Marks become 0 in rows that have a value.
void scale_parts(const Pool& rows, std::span<const ColumnRole> roles, std::vector<ColumnScale>& scales);

}  // namespace kqd
