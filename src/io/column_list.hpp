#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/table.hpp"

namespace kqd {

/// A list of columns as a user writes it: `age, temp_*, a..d, 3-7, "a, b"`.
///
/// An item is, in this order of trial: the name of a column, a number from 1, a range of numbers, a range between two
/// names by position, a glob with * and ?. An item in double quotes is a name and nothing else; "" means the columns
/// without a name.
class ColumnList {
 public:
  /// `option` is the id of the option that has the list. Throws Error{invalid_option} for an empty item or an open
  /// quote.
  ColumnList(std::string option, std::string_view text);

  [[nodiscard]] bool empty() const { return items_.empty(); }

  /// Numbers and ranges become the names which these columns have in this table, so that they mean the same columns in
  /// another table with names. Those of columns without a name stay numbers.
  void pin_positions(const Table& table);

  /// For each column of a table whether the list has it.
  [[nodiscard]] std::vector<bool> marks(const Table& table);

  /// Refuses an item that was found in no table so far, with the columns of this one and the nearest name.
  void check_all_found(const Table& table) const;

 private:
  struct Item {
    std::string text;
    bool quoted = false;
    bool found = false;
    std::optional<std::size_t> position = {};  ///< pinned, of a column without a name
  };

  std::string option_;
  std::vector<Item> items_;
};

/// Names as a message lists them: quoted, the first eight of them.
[[nodiscard]] std::string list_of(const std::vector<std::string_view>& names);

/// The columns of a table, for an error about a column that is not there: their names and the nearest one, or their
/// number.
[[nodiscard]] std::string expected_columns(const Table& table, std::string_view wanted);

/// The item of a list that means this column: its name, in double quotes where the syntax of lists needs them.
[[nodiscard]] std::string item_of(const Table& table, std::size_t column);

/// The names of a table's columns; none of a table without names.
[[nodiscard]] std::vector<std::string_view> names_of(const Table& table);

}  // namespace kqd
