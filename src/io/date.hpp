#pragma once
#include <optional>
#include <string_view>

namespace kqd {

/// The order of the parts of a date with slashes.
enum class DateOrder {
  unknown,      ///< only those that start with the year have a meaning
  day_first,    ///< 29/02/2024
  month_first,  ///< 02/29/2024
};

/// An ISO 8601 date, or date and time, as days since 1970-01-01: 2024-02-29, 2024-02-29T12:30, 2024-02-29 12:30:15.25Z,
/// 2024-02-29T12:30:15+05:30. A time without a zone counts as UTC. Also 2024/02/29 and 29.02.2024, without a time,
/// and 29/02/2024 or 02/29/2024 if the order is known. Nothing for anything else, impossible days included.
[[nodiscard]] std::optional<double> parse_date(std::string_view text, DateOrder order = DateOrder::unknown);

/// Whether a text has the form of a date with slashes and the year at its end.
[[nodiscard]] bool has_unknown_date_order(std::string_view text);

}  // namespace kqd
