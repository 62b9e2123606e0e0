#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/date.hpp"
#include "io/number.hpp"
#include "kqd/io/preparation.hpp"  // ColumnType

namespace kqd {

/// The type that a user declares for some columns.
struct TypeRule {
  std::string columns;  ///< a ColumnList
  ColumnType type = ColumnType::number;
  DateOrder date_order = DateOrder::unknown;
  std::vector<std::string> levels = {};  ///< of an ordered type, ascending; empty: those of numbers
};

/// How texts are read, the same for every format.
struct TextRules {
  std::vector<std::string> missing = {};     ///< texts that mean "missing" in addition to the usual ones
  bool default_missing = true;               ///< whether the usual ones do; an empty text always does
  std::vector<double> missing_numbers = {};  ///< numbers that mean it, such as -999
  bool dates = false;                        ///< ISO dates and times are numbers: days since 1970-01-01
  std::vector<TypeRule> types = {};
  bool decimal_comma = false;  ///< numbers are written 1,5, and what is written 1.5 is a text

  [[nodiscard]] bool is_missing_number(double value) const {
    return std::ranges::find(missing_numbers, value) != missing_numbers.end();
  }
};

/// The meaning of a whole cell without blanks around it under these rules.
[[nodiscard]] Cell parse_cell(std::string_view text, const TextRules& rules);

}  // namespace kqd
