#pragma once
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// "; did you mean X?" for the known word nearest to a misspelt one, or "" when none is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace kqd
