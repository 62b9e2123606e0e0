#include "two_sample/profile_units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "profile/profile_spec.hpp"

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
};

ProfileUnits units_in_random_order(const ProfileSpec& spec, const std::vector<UnitGroup>& groups, Seed seed) {
  ProfileUnits units;
  units.order.resize(groups.size());
  std::iota(units.order.begin(), units.order.end(), std::size_t{0});
  RandomStream stream(seed, Purpose::group_assignment);
  for (std::size_t left = groups.size(); left > 1; --left) {
    std::swap(units.order[left - 1], units.order[static_cast<std::size_t>(stream.below(left))]);
  }
  auto data = std::make_shared<GroupedData>();
  for (const std::size_t number : units.order) {
    data->unit_rows.push_back(static_cast<double>(groups[number].part->group_rows[groups[number].number]));
  }
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const ProfiledFunctions& functions = spec.functions[set];
    units.first_lines.push_back(data->lines.size());
    for (const LineGrid& grid : functions.lines) {
      const std::size_t line = data->lines.size();
      GroupedLine& grouped = data->lines.emplace_back();
      grouped.grid = grid;
      grouped.counts = Matrix<std::uint32_t>(groups.size(), grid.num_bins());
      for (std::size_t u = 0; u < groups.size(); ++u) {
        const UnitGroup& group = groups[units.order[u]];
        std::ranges::copy(group.part->counts[line].row(group.number), grouped.counts.row(u).begin());
      }
    }
    Matrix<double>& means = data->unit_means.emplace_back(groups.size(), functions.sums ? functions.set.count() : 0);
    for (std::size_t u = 0; u < groups.size() && functions.sums; ++u) {
      const UnitGroup& group = groups[units.order[u]];
      const auto sums = group.part->sums[set].row(group.number);
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
  if (x.rows_per_group() != y.rows_per_group()) {
    fail(ErrorCode::shape_mismatch, "the profiles have groups of {} and {} rows, expected the same size",
         x.rows_per_group(), y.rows_per_group());
  }
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
  std::vector<UnitGroup> groups;
  for (const Profile& profile : profiles) groups.push_back({&ProfileAccess::state(profile).parts.front(), 0});
  return units_in_random_order(*profiles.front().spec(), groups, seed);
}

ProfileUnits units_of(const Profile& x, const Profile& y, Seed seed) {
  std::vector<UnitGroup> groups;
  std::size_t num_x = 0;
  std::size_t num_y = 0;
  for (const Profile* profile : {&x, &y}) {
    for (const ProfilePart& part : ProfileAccess::state(*profile).parts) {
      for (std::size_t g = 0; g < part.num_groups; ++g) {
        if (part.group_rows[g] > 0) groups.push_back({&part, g});
      }
    }
    (profile == &x ? num_x : num_y) = groups.size() - num_x;
  }
  ProfileUnits units = units_in_random_order(*x.spec(), groups, seed);
  units.num_x = num_x;
  units.num_y = num_y;
  return units;
}

}  // namespace kqd
