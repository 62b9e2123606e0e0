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
  using SampleNumber = std::uint16_t;
  static constexpr SampleNumber kNowhere = 0xffff;

  std::vector<std::vector<SampleNumber>> sample_of_row;  ///< per input
  /// Per input: the place of each row among all rows of its sample, from 0. Without a bound on rows none.
  std::vector<std::vector<std::size_t>> place_of_row;
  std::vector<RowCounts> counts;            ///< per sample
  std::size_t ungrouped = 0;                ///< rows without a value in the group column
  std::array<std::string, 2> group_values;  ///< with a group column: its value in either sample

  [[nodiscard]] std::size_t kept(std::size_t sample) const {
    const RowCounts& of = counts[sample];
    return of.read - of.omitted - of.not_drawn;
  }
};

/// Tells the samples apart: by input, or by the group column. Throws Error{invalid_option} listing the values of a
/// group column that has not exactly two.
[[nodiscard]] RowPlan split_rows(std::vector<Input>& inputs, const ReadOptions& options);

/// Leaves out rows with missing values if the options say so, and draws the subsample: the rows of a sample with the
/// smallest keys, which follow from the seed and the place of a row in its sample. So rows can be dropped while others
/// are still to come. Cells are as check_cells left them. Throws Error{shape_mismatch} for pairs of unequal number,
/// Error{invalid_weights} for a weight below 0, Error{empty_sample} when a sample is left without rows.
void choose_rows(std::vector<Input>& inputs, const ReadOptions& options, RowPlan& plan);

/// True when rows of a table can be dropped while it is read: each row is omitted or kept by itself.
[[nodiscard]] bool can_drop_rows(const ReadOptions& options);

/// Drops the rows that choose_rows() would not keep, whatever follows.
void drop_rows(Table& table, const Roles& roles, const ReadOptions& options);

}  // namespace kqd
