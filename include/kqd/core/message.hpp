#pragma once
#include <string>
#include <string_view>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// How a front end writes an option of the library: its name when `value` is empty ("--power", "power"), else the
/// whole setting ("--power 2", "power=2"). `id` is the option's name in C++.
using OptionNames = std::string (*)(std::string_view id, std::string_view value);

/// The names of C++: "power", "power = 2".
[[nodiscard]] std::string library_names(std::string_view id, std::string_view value);

/// The text with its references to options written by `names`. Messages of the library refer to options by id, because
/// each front end calls them by another name.
[[nodiscard]] std::string render(std::string_view text, OptionNames names = library_names);

}  // namespace kqd
