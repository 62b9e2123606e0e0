#pragma once
#include <string>
#include <string_view>

#include "kqd/io/printable.hpp"

namespace kqd {

/// printable() text, cut after 40 characters with "..." in place of the rest: how a message shows a name.
[[nodiscard]] std::string shortened(std::string_view text);

/// The same between double quotes, with quotes and backslashes escaped: how a message shows a value.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// The text with characters that change the direction of what follows as hexadecimal bytes, and all else as it is.
[[nodiscard]] std::string in_one_direction(std::string_view text);

/// Whether a path ends with a suffix, in capitals or not; the suffix itself is in small letters.
[[nodiscard]] bool has_suffix(std::string_view path, std::string_view suffix);

/// Whether all of the text is well-formed UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace kqd
