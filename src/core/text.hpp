#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/suggestion.hpp"

namespace kqd {

/// The parts of `text` between `separator`s, at least one.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The parts of `text` between separators; a sign within a number such as 1e+3 is not a separator.
[[nodiscard]] std::vector<std::string_view> split_terms(std::string_view text, char separator);

/// `text` without blanks at either end.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The number that the whole of `text` spells, in any locale; nothing when it is not a finite number.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// The words, joined by ", ".
[[nodiscard]] std::string join(std::span<const std::string_view> words);

/// The shortest text that reads back as the same number.
[[nodiscard]] std::string shortest(double value);

}  // namespace kqd
