#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/io/preparation.hpp"

namespace kqd KQD_PUBLIC {

/// How a column of a table became columns of numbers.
struct ColumnEncoding {
  std::string name;  ///< or its number, from 1
  ColumnType type = ColumnType::number;
  bool excluded = false;
  bool text = false;                     ///< its cells are texts
  bool hashed = false;                   ///< these became kHashedColumns columns of 0 and 1
  std::vector<std::string> levels = {};  ///< else a column of 0 and 1 for each of them
  bool has_other = false;                ///< the last level has all texts that are not another level
  bool marks_missing = false;            ///< a column of its own is 1 where a value is missing

  friend bool operator==(const ColumnEncoding&, const ColumnEncoding&) = default;
};

/// How tables became samples, so that later tables become columns of the same meaning.
///
/// A later text that is not a level is 0 in the columns of all levels, or belongs to the level for all other texts. A
/// later missing number counts as `fillers` says, a missing text as none of the levels.
struct TableEncoding {
  bool named = false;                       ///< columns have names
  std::vector<std::string> table_columns;   ///< all columns, in the order of the first table; empty texts without names
  std::vector<ColumnEncoding> columns;      ///< that could be compared, in the order of the sample
  std::vector<std::string> sample_columns;  ///< names of the columns of numbers; empty: none are known
  std::vector<ColumnRole> roles;            ///< of these, as of a sample
  std::vector<double> fillers;              ///< of each column of numbers: what a missing value counts as
  std::vector<std::string> offsets;         ///< columns that whole numbers were subtracted from; later runs refuse them

  friend bool operator==(const TableEncoding&, const TableEncoding&) = default;

  [[nodiscard]] std::string serialize() const;
  /// Throws Error{unreadable_input} for bytes that are not a valid encoding.
  [[nodiscard]] static TableEncoding deserialize(std::string_view bytes);
};

}  // namespace kqd
