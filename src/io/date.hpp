#pragma once
#include <optional>
#include <string_view>

namespace kqd {

/// An ISO 8601 date, or date and time, as days since 1970-01-01: 2024-02-29, 2024-02-29T12:30, 2024-02-29 12:30:15.25Z,
/// 2024-02-29T12:30:15+05:30. A time without a zone counts as UTC. Nothing for anything else, impossible days included.
[[nodiscard]] std::optional<double> parse_date(std::string_view text);

}  // namespace kqd
