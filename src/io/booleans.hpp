#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "io/roles.hpp"

namespace kqd {

/// Columns of points whose every text is "true" or "false", in capitals or not, in all inputs become columns of 1 and
/// 0, as booleans of other formats do. A third word in one input makes it a column of text in all: the same word must
/// not be a number here and a category there. Returns which of the points they are, by their place among them.
std::vector<std::size_t> turn_booleans_into_numbers(std::vector<Input>& inputs);

}  // namespace kqd
