#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/types.hpp"
#include "kqd/profile/group_rule.hpp"

namespace kqd {

/// Sizes of the groups that rows are permuted in.
struct GroupSizes {
  std::size_t rows_per_group = 1;
  std::size_t num_x = 0;  ///< groups of X
  std::size_t num_y = 0;
};

/// Groups of the smaller sample, unless it has fewer rows.
inline constexpr std::size_t kUsualGroups = 128;
/// The same of blocks, which must be long against the dependence of neighbours: fewer, longer groups.
inline constexpr std::size_t kUsualBlocks = 32;
/// Groups of a sample at most; other rows take no part.
inline constexpr std::size_t kMostGroups = 512;

/// Whether pooled rows are so many that groups of them are permuted unless rows are asked for: more than 100,000, where
/// groups are twice as fast (bench/README.md), or more than 10^8 numbers, since the test of rows keeps a scaled copy.
[[nodiscard]] constexpr bool are_many(std::size_t num_rows, std::size_t num_columns) {
  constexpr std::size_t kManyRows = 100'000;
  constexpr std::size_t kManyCells = 100'000'000;
  return num_rows > kManyRows || num_rows * num_columns > kManyCells;
}

/// Groups of one size for both samples: 128 of the smaller sample where it has as many rows. The larger sample has at
/// most 512; where it would have more, groups grow, down to 16 of the smaller sample, and rows beyond the last group
/// take no part. Needs at least one row of each.
[[nodiscard]] GroupSizes group_sizes(std::size_t num_x_rows, std::size_t num_y_rows,
                                     std::size_t usual_groups = kUsualGroups);

/// Rows of two samples in groups of one size, which are the units of a permutation test.
struct RowGroups {
  GroupSizes sizes;
  /// Position of a unit -> group of (X, Y), X groups first: a random order, so that no position reveals a label.
  std::vector<std::size_t> order;
  /// Rows of (X, Y): those of the unit at position i are elements first[i] .. first[i + 1] - 1.
  std::vector<std::size_t> rows;
  std::vector<std::size_t> first;

  [[nodiscard]] std::size_t num_units() const { return order.size(); }
  [[nodiscard]] std::span<const std::size_t> rows_of(std::size_t unit) const {
    return std::span(rows).subspan(first[unit], first[unit + 1] - first[unit]);
  }
};

/// Assigns the rows of each sample to groups by a random permutation of their places in `rows`, positions of a
/// label-blind order. So every partition of a sample is equally likely whatever its rows hold, and exchanging whole
/// groups is exchanging rows: a permutation test of the groups is exact. Rows below `num_x_rows` belong to X.
///
/// Never by blocks of that order, by turns, or by a hash of what rows hold: equal rows would be together, or spread
/// more evenly than at random (docs/design/0009-groups.md).
///
/// By keys (of rows of (X, Y)): each group has equally many keys, drawn at random, and all rows of them; so the units
/// are exchangeable where keys are. In blocks: keys are ranks within the sample, and groups are contiguous in their
/// order, with all rows.
[[nodiscard]] RowGroups make_row_groups(std::span<const std::size_t> rows, std::size_t num_x_rows, Seed seed,
                                        GroupAssignment assignment = GroupAssignment::random,
                                        std::span<const std::uint64_t> keys = {});

}  // namespace kqd
