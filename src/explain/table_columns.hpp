#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/io/preparation.hpp"

namespace kqd {

/// A column of the table, and the columns of the samples that it became.
struct TableColumn {
  std::string name;
  ColumnType type = ColumnType::number;
  std::optional<std::size_t> value = {};      ///< column of numbers
  std::vector<std::size_t> levels = {};       ///< columns of its levels
  std::optional<std::size_t> missing = {};    ///< column that marks missing values
  std::vector<std::string> level_names = {};  ///< one per level

  [[nodiscard]] bool is_category() const { return !value.has_value(); }
};

/// The columns of the table in the order of the samples' columns. Without roles each column is a table column of
/// numbers. Names, types and levels are those of `sources`; without sources they follow from the names of the columns:
/// "plan=basic", "income is missing".
[[nodiscard]] std::vector<TableColumn> table_columns(std::size_t dim, std::span<const ColumnRole> roles,
                                                     std::span<const ColumnSource> sources,
                                                     const std::function<std::string(std::size_t)>& name_of);

/// Where columns of 0 and 1 are 1. They may have been standardised: then the larger of their two values is the 1.
class Marks {
 public:
  explicit Marks(const Pool& pool);
  [[nodiscard]] bool is_set(std::span<const double> row, std::size_t column) const {
    return row[column] > thresholds_[column];
  }

 private:
  std::vector<double> thresholds_;
};

/// The level of each row of the pool: a number below num_levels() of the column. Missing values are the last level.
struct LevelCodes {
  std::vector<std::uint16_t> of_row;
  std::vector<std::string> names;
  bool last_is_missing = false;

  [[nodiscard]] std::size_t size() const { return names.size(); }
};

/// Of a category. Rows without any level have the level "other", if there are any.
[[nodiscard]] LevelCodes level_codes(const TableColumn& column, const Pool& pool, const Marks& marks);

/// The cell of a row as the table has it; empty: missing.
[[nodiscard]] std::string cell_text(const TableColumn& column, std::span<const double> row, const Marks& marks);

/// A value of a column of numbers: a date for days, true or false for booleans.
[[nodiscard]] std::string value_text(ColumnType type, double value);

}  // namespace kqd
