#include "profile/row_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"
#include "profile/keyed_permutation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFewestGroups = 16;

// Indices of the random streams. The sample of the first row has index 0, so that X and Y may change places.
constexpr std::uint64_t kUnitOrder = 2;

using Members = std::vector<std::vector<std::size_t>>;

// Places are those of the rows in the order given.
void add_random_groups(std::span<const std::size_t> rows, std::size_t rows_per_group, std::size_t num_groups, Seed seed,
                       std::uint64_t index, Members& members) {
  const KeyedPermutation place(rows.size(), seed, index);
  const std::size_t first = members.size();
  members.resize(first + num_groups, std::vector<std::size_t>(rows_per_group));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = place(i);
    if (at / rows_per_group < num_groups) members[first + at / rows_per_group][at % rows_per_group] = rows[i];
  }
}

struct KeyedRow {
  std::uint64_t order;  // of the key, at random
  std::uint64_t key;
  std::size_t row;

  friend auto operator<=>(const KeyedRow&, const KeyedRow&) = default;
};

// Rows of one key next to each other, keys in random order.
std::vector<KeyedRow> by_shuffled_key(std::span<const std::size_t> rows, std::span<const std::uint64_t> keys, Seed seed,
                                      std::uint64_t index) {
  std::vector<KeyedRow> list;
  for (const std::size_t row : rows) list.push_back({mix(mix(keys[row], seed.value), index), keys[row], row});
  std::ranges::sort(list);
  return list;
}

std::size_t num_keys(const std::vector<KeyedRow>& list) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < list.size(); ++i) count += i == 0 || list[i].key != list[i - 1].key ? 1U : 0U;
  return count;
}

void add_groups_of_keys(const std::vector<KeyedRow>& list, std::size_t keys_per_group, std::size_t num_groups,
                        Members& members) {
  const std::size_t first = members.size();
  members.resize(first + num_groups);
  std::size_t key = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && list[i].key != list[i - 1].key) ++key;
    if (key / keys_per_group < num_groups) members[first + key / keys_per_group].push_back(list[i].row);
  }
}

// Blocks of equally many rows, but for one.
void add_blocks(std::vector<std::size_t> rows, std::span<const std::uint64_t> ranks, std::size_t num_groups,
                Members& members) {
  std::ranges::sort(rows, {}, [&](std::size_t row) { return ranks[row]; });
  const std::size_t first = members.size();
  members.resize(first + num_groups);
  for (std::size_t i = 0; i < rows.size(); ++i) members[first + i * num_groups / rows.size()].push_back(rows[i]);
}

}  // namespace

GroupSizes group_sizes(std::size_t num_x_rows, std::size_t num_y_rows, std::size_t usual_groups) {
  const auto [small, large] = std::minmax(num_x_rows, num_y_rows);
  if (small == 0) fail(ErrorCode::empty_sample, "a sample has no rows");
  std::size_t size = std::max<std::size_t>(1, small / usual_groups);
  if (large / size > kMostGroups) {
    const std::size_t wanted = (large + kMostGroups - 1) / kMostGroups;
    size = std::max(size, std::min(wanted, std::max<std::size_t>(1, small / kFewestGroups)));
  }
  return {size, std::min(kMostGroups, num_x_rows / size), std::min(kMostGroups, num_y_rows / size)};
}

RowGroups make_row_groups(std::span<const std::size_t> rows, std::size_t num_x_rows, Seed seed,
                          GroupAssignment assignment, std::span<const std::uint64_t> keys) {
  std::vector<std::size_t> x_rows;
  std::vector<std::size_t> y_rows;
  for (const std::size_t row : rows) (row < num_x_rows ? x_rows : y_rows).push_back(row);
  const bool first_is_x = rows.front() < num_x_rows;
  RowGroups groups;
  std::vector<std::vector<std::size_t>> members;  // of the groups of X, then of Y
  switch (assignment) {
    case GroupAssignment::random: {
      groups.sizes = group_sizes(x_rows.size(), y_rows.size());
      const std::size_t g = groups.sizes.rows_per_group;
      add_random_groups(x_rows, g, groups.sizes.num_x, seed, first_is_x ? 0 : 1, members);
      add_random_groups(y_rows, g, groups.sizes.num_y, seed, first_is_x ? 1 : 0, members);
      break;
    }
    case GroupAssignment::key: {
      const std::vector<KeyedRow> x_keys = by_shuffled_key(x_rows, keys, seed, first_is_x ? 0 : 1);
      const std::vector<KeyedRow> y_keys = by_shuffled_key(y_rows, keys, seed, first_is_x ? 1 : 0);
      groups.sizes = group_sizes(num_keys(x_keys), num_keys(y_keys));
      const std::size_t keys_per_group = groups.sizes.rows_per_group;
      add_groups_of_keys(x_keys, keys_per_group, groups.sizes.num_x, members);
      add_groups_of_keys(y_keys, keys_per_group, groups.sizes.num_y, members);
      break;
    }
    case GroupAssignment::blocks:
      groups.sizes = group_sizes(x_rows.size(), y_rows.size(), kUsualBlocks);
      add_blocks(x_rows, keys, groups.sizes.num_x, members);
      add_blocks(y_rows, keys, groups.sizes.num_y, members);
      break;
  }
  groups.order.resize(members.size());
  std::iota(groups.order.begin(), groups.order.end(), std::size_t{0});
  RandomStream stream(seed, Purpose::group_assignment, kUnitOrder);
  for (std::size_t left = groups.order.size(); left > 1; --left) {
    std::swap(groups.order[left - 1], groups.order[static_cast<std::size_t>(stream.below(left))]);
  }
  for (const std::size_t group : groups.order) {
    groups.first.push_back(groups.rows.size());
    groups.rows.insert(groups.rows.end(), members[group].begin(), members[group].end());
  }
  groups.first.push_back(groups.rows.size());
  groups.sizes.rows_per_group = (groups.rows.size() + members.size() / 2) / members.size();
  return groups;
}

}  // namespace kqd
