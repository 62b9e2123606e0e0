#include "profile/row_groups.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "profile/keyed_permutation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFewestGroups = 16;

// Indices of the random streams. The sample of the first row has index 0, so that X and Y may change places.
constexpr std::uint64_t kUnitOrder = 2;

}  // namespace

GroupSizes group_sizes(std::size_t num_x_rows, std::size_t num_y_rows) {
  const auto [small, large] = std::minmax(num_x_rows, num_y_rows);
  if (small == 0) fail(ErrorCode::empty_sample, "a sample has no rows");
  std::size_t size = std::max<std::size_t>(1, small / kUsualGroups);
  if (large / size > kMostGroups) {
    const std::size_t wanted = (large + kMostGroups - 1) / kMostGroups;
    size = std::max(size, std::min(wanted, std::max<std::size_t>(1, small / kFewestGroups)));
  }
  return {size, std::min(kMostGroups, num_x_rows / size), std::min(kMostGroups, num_y_rows / size)};
}

RowGroups make_row_groups(std::span<const std::size_t> rows, std::size_t num_x_rows, Seed seed) {
  const auto is_x = [&](std::size_t row) { return row < num_x_rows; };
  const auto nx = static_cast<std::size_t>(std::ranges::count_if(rows, is_x));
  const std::size_t ny = rows.size() - nx;
  RowGroups groups;
  groups.sizes = group_sizes(nx, ny);
  const std::size_t first_is_x = is_x(rows.front()) ? 1 : 0;
  const KeyedPermutation x_place(nx, seed, 1 - first_is_x);
  const KeyedPermutation y_place(ny, seed, first_is_x);
  const std::size_t g = groups.sizes.rows_per_group;
  const std::size_t num_units = groups.sizes.num_x + groups.sizes.num_y;

  groups.order.resize(num_units);
  std::iota(groups.order.begin(), groups.order.end(), std::size_t{0});
  RandomStream stream(seed, Purpose::group_assignment, kUnitOrder);
  for (std::size_t left = num_units; left > 1; --left) {
    std::swap(groups.order[left - 1], groups.order[static_cast<std::size_t>(stream.below(left))]);
  }
  std::vector<std::size_t> position(num_units);
  for (std::size_t i = 0; i < num_units; ++i) position[groups.order[i]] = i;

  groups.rows.resize(num_units * g);
  std::size_t next_x = 0;
  std::size_t next_y = 0;
  for (const std::size_t row : rows) {
    const bool of_x = is_x(row);
    const std::size_t place = of_x ? x_place(next_x++) : y_place(next_y++);
    const std::size_t group = place / g;
    if (group >= (of_x ? groups.sizes.num_x : groups.sizes.num_y)) continue;
    groups.rows[position[of_x ? group : groups.sizes.num_x + group] * g + place % g] = row;
  }
  return groups;
}

}  // namespace kqd
