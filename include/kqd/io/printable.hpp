#pragma once
#include <string>
#include <string_view>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Text of unknown origin, safe to print: control characters, characters that change the direction of what follows
/// (U+202E and its like) and bytes that are not UTF-8 become \n, \t, \r or \xNN.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace kqd
