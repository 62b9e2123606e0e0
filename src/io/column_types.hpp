#pragma once
#include <string_view>
#include <vector>

#include "io/roles.hpp"
#include "io/rows.hpp"
#include "io/text_rules.hpp"

namespace kqd {

/// The rules in a list such as "plan=category, day=date-dmy". Throws Error{invalid_option}.
[[nodiscard]] std::vector<TypeRule> parse_type_rules(std::string_view text);

/// Finds the types of the columns of points, adds them to preparation.sources, and removes columns that are excluded
/// from the points. Only what all samples have together counts, so a test stays exact. Declared types win; without
/// Categorical::automatic, texts are what the option says.
///
/// Throws Error{unreadable_input} for a column that mixes texts with many different numbers, or with dates.
void find_types(std::vector<Input>& inputs, const RowPlan& rows, const ReadOptions& options, Preparation& preparation);

}  // namespace kqd
