#pragma once
#include <string_view>

namespace kqd {

/// What the text of a cell stands for.
enum class CellKind {
  number,        ///< a finite number
  missing,       ///< nothing, or a spelling of "missing": NA, nan, null, -, #DIV/0!, ...
  infinite,      ///< a spelling of infinity
  out_of_range,  ///< a number larger than any double
  date,          ///< a date, where dates are asked for; its value is a number of days
  text,          ///< anything else
};

struct Cell {
  CellKind kind = CellKind::text;
  double value = 0.0;  ///< of a number or date; an infinity of its sign for what is beyond; 0 otherwise
};

/// The finite number at the front of [first, last), a leading + allowed: returns where it ends, or nullptr if there is
/// none. The value is the nearest double.
[[nodiscard]] const char* parse_finite(const char* first, const char* last, double& value);

/// The same for numbers with a decimal comma, in which no point may stand.
[[nodiscard]] const char* parse_finite_with_comma(const char* first, const char* last, double& value);

/// What a whole cell without blanks around it stands for. A number too small for a double is a zero of its sign.
[[nodiscard]] Cell parse_cell(std::string_view text);

}  // namespace kqd
