#pragma once
#include <span>
#include <string>
#include <string_view>

#include "report/fields.hpp"

namespace kqd {

/// A line of names and a line of values from the fields of an object. "name_ci" gives two columns, the ends of an
/// interval; a list of sentences or an object of settings one cell, parted by "; "; what is missing or null an empty
/// one.
[[nodiscard]] std::string csv_of(const Json& json, std::span<const std::string_view> names);

}  // namespace kqd
