#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

#include "io/roles.hpp"

namespace kqd {

/// Columns of points whose every text is "true" or "false", in capitals or not, in all inputs become columns of 1 and
/// 0, as booleans of other formats do. A third word in one input makes it a column of text in all: the same word must
/// not be a number here and a category there. If `automatic`, "yes" and "no" are such words too, and the numbers 1 and
/// 0 may be among them. Returns which of the points they are, by their place among them.
std::vector<std::size_t> turn_booleans_into_numbers(std::vector<Input>& inputs, bool automatic);

/// "true", "false", "yes" or "no", in capitals or not.
[[nodiscard]] bool is_boolean_word(std::string_view text);

/// Whether every cell so far of a column with text is missing, "true" or "false".
[[nodiscard]] bool holds_booleans(const Table& table, std::size_t column);

/// The cells of such a column that the table holds become 1 and 0; what is known of the column stays.
void turn_cells_into_numbers(Table& table, std::size_t column);

}  // namespace kqd
