#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// How rows are assigned to the groups that a test permutes (docs/design/0009-groups.md).
enum class GroupAssignment {
  random,  ///< at random, whatever their order: exact for independent rows
  key,     ///< rows with the same key together, keys at random: for users or devices with several rows each
  blocks,  ///< neighbours in the order of a column together: for rows that depend on those shortly before
};

/// An assignment with the column that it needs.
struct GroupRule {
  GroupAssignment assignment = GroupAssignment::random;
  std::string column = {};  ///< of the keys or of the order; empty for random

  friend bool operator==(const GroupRule&, const GroupRule&) = default;
};

/// Reads "random", "key:COLUMN" or "blocks:COLUMN". Throws Error{invalid_option}.
[[nodiscard]] GroupRule parse_group_rule(std::string_view text);
[[nodiscard]] std::string to_string(const GroupRule& rule);

/// The promise of a test of such groups, in one sentence.
[[nodiscard]] std::string_view guarantee(GroupAssignment assignment);

/// The key of a row by the value in its column of keys: the same in every file and program.
[[nodiscard]] std::uint64_t key_of(std::string_view value);

/// The place of a row in the order of GroupAssignment::blocks, by the value of its column: a number, or an ISO date in
/// days. Throws Error{invalid_option}.
[[nodiscard]] double order_of(const GroupRule& rule, std::string_view value);

/// RowBlock::keys of the rows of one sample, from the values of the column as readers return them (SamplePair::units,
/// unit_names): keys, or ranks by numbers and ISO dates. Throws Error{invalid_option} for an order by values that are
/// neither.
[[nodiscard]] std::vector<std::uint64_t> group_keys(const GroupRule& rule, std::span<const std::int64_t> units,
                                                    std::span<const std::string> unit_names);

/// The rank of each value among all, from 0; equal ones in the order given.
[[nodiscard]] std::vector<std::uint64_t> ranks_of(std::span<const double> values);

}  // namespace kqd
