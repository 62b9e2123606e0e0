#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace kqd {

/// The kind of a cell, by its text.
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

/// The same for numbers with a decimal comma, which have no point.
[[nodiscard]] const char* parse_finite_with_comma(const char* first, const char* last, double& value);

/// Whole numbers of at most this size are doubles; of those beyond, only some are.
constexpr double kLargestExactWhole = 0x1p53;

/// A whole number of 64 bits minus the double nearest to it.
[[nodiscard]] std::int64_t rounded_off(std::int64_t value);
[[nodiscard]] std::int64_t rounded_off(std::uint64_t value);

/// The same for the text of a number of size 2^53 or more whose nearest double is `nearest`: nothing for one that is
/// not a whole number of 64 bits.
[[nodiscard]] std::optional<std::int64_t> rounded_off(std::string_view text, double nearest);

/// Whether such a text has no digits but those of its nearest double, rounded to as many: 6.02214076e23 says no more
/// than a double, 9007199254740993.0 does. Where a text has a point or an exponent, zeros at its end do not count.
[[nodiscard]] bool is_print_of(std::string_view text, double nearest);

/// The meaning of a whole cell without blanks around it. A number too small for a double is a zero of its sign.
[[nodiscard]] Cell parse_cell(std::string_view text);

}  // namespace kqd
