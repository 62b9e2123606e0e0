#pragma once
#include <string>
#include <vector>

#include "io/roles.hpp"

namespace kqd {

/// Whether a column of points holds text in any of the inputs; `place` counts points, from 0.
[[nodiscard]] bool is_text_column(const std::vector<Input>& inputs, std::size_t place);

/// Whether these are all texts of their column, and each is a date.
[[nodiscard]] bool all_are_dates(const TextDictionary& texts);

/// Whether these are texts, each of which would be a number with a decimal comma.
[[nodiscard]] bool all_have_decimal_commas(const TextDictionary& texts);

/// Whether a column of points holds dates that are taken as text, and nothing else, in all of the inputs.
[[nodiscard]] bool is_column_of_date_texts(const std::vector<Input>& inputs, std::size_t place);

/// Refuses what no option makes a number: infinite values, dates mixed with numbers, text or missing values where
/// weights should be; and, as far as the options say so, text and missing values in the points. The sentence names the
/// first such cell and the options that help. Throws Error{non_finite_value, unreadable_input}.
void check_cells(const std::vector<Input>& inputs, const ReadOptions& options);

}  // namespace kqd
