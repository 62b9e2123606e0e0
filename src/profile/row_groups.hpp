#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/types.hpp"

namespace kqd {

/// Sizes of the groups that rows are permuted in.
struct GroupSizes {
  std::size_t rows_per_group = 1;
  std::size_t num_x = 0;  ///< groups of X
  std::size_t num_y = 0;
};

/// Groups of the smaller sample, unless it has fewer rows.
inline constexpr std::size_t kUsualGroups = 128;
/// Groups of a sample at most; other rows take no part.
inline constexpr std::size_t kMostGroups = 512;

/// Groups of one size for both samples: 128 of the smaller sample where it has as many rows. The larger sample has at
/// most 512; where it would have more, groups grow, down to 16 of the smaller sample, and rows beyond the last group
/// take no part. Needs at least one row of each.
[[nodiscard]] GroupSizes group_sizes(std::size_t num_x_rows, std::size_t num_y_rows);

/// Rows of two samples in groups of one size, which are the units of a permutation test.
struct RowGroups {
  GroupSizes sizes;
  /// Position of a unit -> group of (X, Y), X groups first: a random order, so that no position reveals a label.
  std::vector<std::size_t> order;
  /// Rows of (X, Y): those of the unit at position i are elements i g .. (i + 1) g - 1, g rows per group.
  std::vector<std::size_t> rows;

  [[nodiscard]] std::size_t num_units() const { return order.size(); }
  [[nodiscard]] std::span<const std::size_t> rows_of(std::size_t unit) const {
    return std::span(rows).subspan(unit * sizes.rows_per_group, sizes.rows_per_group);
  }
};

/// Assigns the rows of each sample to groups by a random permutation of their places in `rows`, positions of a
/// label-blind order. So every partition of a sample is equally likely whatever its rows hold, and exchanging whole
/// groups is exchanging rows: a permutation test of the groups is exact. Rows below `num_x_rows` belong to X.
///
/// Never by blocks of that order, by turns, or by a hash of what rows hold: equal rows would be together, or spread
/// more evenly than at random (docs/design/0009-groups.md).
[[nodiscard]] RowGroups make_row_groups(std::span<const std::size_t> rows, std::size_t num_x_rows, Seed seed);

}  // namespace kqd
