#include "two_sample/profile_units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

// A number that follows from all counts and sums of a profile.
std::uint64_t fingerprint(const Profile& profile) {
  std::uint64_t value = 0;
  for (const char c : spec_id_of(profile.serialize()).substr(0, 16)) {
    value = value * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return value;
}

bool has_units(const Profile& profile) {
  return std::ranges::any_of(ProfileAccess::state(profile).parts, [](const ProfilePart& part) {
    return std::any_of(part.group_rows.begin(), part.group_rows.end() - 1, [](auto rows) { return rows > 0; });
  });
}

// A group of a profile.
struct UnitGroup {
  const ProfilePart* part;
  std::size_t number;

  [[nodiscard]] std::uint32_t rows() const { return part->group_rows[number]; }
};

// The groups that are one unit.
using UnitGroups = std::vector<UnitGroup>;

constexpr std::uint64_t kMostRowsOfUnit = 0x1ffffffff;  // each adds at most 2^30 to a sum

std::uint64_t rows_of(const UnitGroups& unit) {
  std::uint64_t rows = 0;
  for (const UnitGroup& group : unit) rows += group.rows();
  return rows;
}

template <class T>
void add_row(std::span<const T> from, std::span<T> to) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
}

ProfileUnits units_in_random_order(const ProfileSpec& spec, const std::vector<UnitGroups>& groups, Seed seed) {
  ProfileUnits units;
  units.order.resize(groups.size());
  std::iota(units.order.begin(), units.order.end(), std::size_t{0});
  RandomStream stream(seed, Purpose::group_assignment);
  for (std::size_t left = groups.size(); left > 1; --left) {
    std::swap(units.order[left - 1], units.order[static_cast<std::size_t>(stream.below(left))]);
  }
  auto data = std::make_shared<GroupedData>();
  for (const std::size_t number : units.order) {
    data->unit_rows.push_back(static_cast<double>(rows_of(groups[number])));
  }
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const ProfiledFunctions& functions = spec.functions[set];
    units.first_lines.push_back(data->lines.size());
    for (const LineGrid& grid : functions.lines) {
      const std::size_t line = data->lines.size();
      GroupedLine& grouped = data->lines.emplace_back();
      grouped.grid = grid;
      grouped.counts = Matrix<std::uint32_t>(groups.size(), grid.num_bins(), 0);
      for (std::size_t u = 0; u < groups.size(); ++u) {
        for (const UnitGroup& group : groups[units.order[u]]) {
          add_row<std::uint32_t>(group.part->counts[line].row(group.number), grouped.counts.row(u));
        }
      }
    }
    Matrix<double>& means = data->unit_means.emplace_back(groups.size(), functions.sums ? functions.set.count() : 0);
    std::vector<std::int64_t> sums(means.cols());
    for (std::size_t u = 0; u < groups.size() && functions.sums; ++u) {
      std::ranges::fill(sums, 0);
      for (const UnitGroup& group : groups[units.order[u]]) {
        add_row<std::int64_t>(group.part->sums[set].row(group.number), sums);
      }
      for (std::size_t k = 0; k < sums.size(); ++k) {
        means(u, k) = std::ldexp(static_cast<double>(sums[k]), -functions.exponents[k]);
      }
    }
    centre_unit_means(means, data->unit_rows);
  }
  units.data = std::move(data);
  return units;
}

}  // namespace

void require_same_spec(const Profile& x, const Profile& y) {
  if (x.spec_id() == y.spec_id()) return;
  fail(ErrorCode::shape_mismatch, "the profiles were made by different specs, {} and {}: make one like the other",
       x.spec_id(), y.spec_id());
}

void require_comparable(const Profile& x, const Profile& y) {
  require_same_spec(x, y);
  for (const Profile* profile : {&x, &y}) {
    profile->require_complete();
    if (!has_units(*profile)) {
      fail(ErrorCode::empty_sample, "a profile of {} rows has no group of {} rows", profile->num_rows(),
           profile->rows_per_group());
    }
  }
}

Seed permutation_seed(const Profile& x, const Profile& y, Seed seed) {
  const auto [low, high] = std::minmax({fingerprint(x), fingerprint(y)});
  RandomStream stream(Seed{seed.value ^ low}, Purpose::permutations, high);
  return Seed{stream.bits64()};
}

ProfileUnits units_of_each(std::span<const Profile> profiles, Seed seed) {
  std::vector<UnitGroups> groups;
  for (const Profile& profile : profiles) groups.push_back({{&ProfileAccess::state(profile).parts.front(), 0}});
  return units_in_random_order(*profiles.front().spec(), groups, seed);
}

ProfileUnits units_of(const Profile& x, const Profile& y, Seed seed) {
  const std::uint64_t size = std::lcm(x.rows_per_group(), y.rows_per_group());
  // Groups of this size; what is left over of a sample goes with the next.
  const auto all_groups = [&](const Profile& profile) {
    UnitGroups groups;
    for (const ProfilePart& part : ProfileAccess::state(profile).parts) {
      for (std::size_t g = 0; g < part.num_groups; ++g) groups.push_back({&part, g});
    }
    return groups;
  };
  std::vector<UnitGroups> units;
  std::array<std::size_t, 2> num_units = {};
  const UnitGroups of_x = all_groups(x);
  const UnitGroups of_y = all_groups(y);
  const std::size_t num_x = of_x.size() / (size / x.rows_per_group());
  const std::size_t num_y = of_y.size() / (size / y.rows_per_group());
  for (const auto& [profile, number] : {std::pair(&x, num_x), std::pair(&y, num_y)}) {
    if (number > 0) continue;
    fail(ErrorCode::empty_sample, "a profile of {} rows has no group of {} rows, which the other profile has",
         profile->num_rows(), size);
  }
  const GroupSizes sizes = group_sizes(num_x, num_y, std::min(num_x, num_y));
  const auto add_units = [&](const UnitGroups& groups, const Profile& profile, std::size_t count) {
    const std::size_t each = sizes.rows_per_group * (size / profile.rows_per_group());
    const std::size_t there = groups.size() / each;
    const std::size_t before = units.size();
    for (std::size_t k = 0; k < count; ++k) {
      const auto first = groups.begin() + static_cast<std::ptrdiff_t>(k * there / count * each);
      UnitGroups unit(first, first + static_cast<std::ptrdiff_t>(each));
      if (rows_of(unit) > kMostRowsOfUnit) {
        fail(ErrorCode::resource_limit, "{} rows would be one group, at most {} can be", rows_of(unit),
             kMostRowsOfUnit);
      }
      if (rows_of(unit) > 0) units.push_back(std::move(unit));
    }
    return units.size() - before;
  };
  num_units[0] = add_units(of_x, x, sizes.num_x);
  num_units[1] = add_units(of_y, y, sizes.num_y);
  ProfileUnits made = units_in_random_order(*x.spec(), units, seed);
  made.rows_per_unit = size * sizes.rows_per_group;
  made.num_x = num_units[0];
  made.num_y = num_units[1];
  return made;
}

}  // namespace kqd
