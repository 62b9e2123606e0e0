#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/roles.hpp"

namespace kqd {

/// Where the rows of the inputs go: to which sample each, or nowhere.
struct RowPlan {
  static constexpr std::uint8_t kNowhere = 2;

  std::vector<std::vector<std::uint8_t>> sample_of_row;  ///< per input: 0, 1 or kNowhere
  std::array<RowCounts, 2> counts;
  std::size_t ungrouped = 0;                ///< rows without a value in the group column
  std::array<std::string, 2> group_values;  ///< with a group column: its value in either sample

  [[nodiscard]] std::size_t kept(std::size_t sample) const {
    const RowCounts& of = counts[sample];
    return of.read - of.omitted - of.not_drawn;
  }
};

/// Tells the samples apart: by input, or by the group column. Throws Error{invalid_option} listing the values of a
/// group column that has not exactly two.
[[nodiscard]] RowPlan split_rows(std::vector<Input>& inputs);

/// Leaves out rows with missing values if the options say so, and draws the subsample. Cells are as check_cells left
/// them. Throws Error{shape_mismatch} for pairs of unequal number, Error{invalid_weights} for a weight below 0,
/// Error{empty_sample} when a sample is left without rows.
void choose_rows(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan);

}  // namespace kqd
