#include "profile/row_places.hpp"

#include <algorithm>
#include <vector>

#include "core/hash.hpp"

namespace kqd {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kKeyOfPlaces = 0x13198a2e03707344ULL;

}  // namespace

RowPlaces::RowPlaces(const ProfileSpec& spec, const SampleExtent& sample)
    : assignment_(spec.rule.assignment),
      shuffled_(sample.num_rows, Seed{spec.seed}, sample.id),
      num_held_out_(spec.rows_held_out(sample)),
      salt_(mix(mix(kKeyOfPlaces, spec.seed), sample.id)) {}

std::uint64_t RowPlaces::operator()(std::uint64_t row, std::uint64_t key) const {
  const std::uint64_t n = shuffled_.size();
  if (assignment_ == GroupAssignment::random) return shuffled_(row);
  if (assignment_ == GroupAssignment::key) {
    // Mixed twice: once would spread keys 1, 2, 3, ... evenly instead of at random.
    return static_cast<std::uint64_t>((Wide{mix(mix(key, salt_), kKeyOfPlaces)} * n) >> 64U);
  }
  const std::uint64_t drawn = num_held_out_ > 0 ? shuffled_(row) : n;
  if (drawn < num_held_out_) return drawn;
  return num_held_out_ + static_cast<std::uint64_t>(Wide{key} * (n - num_held_out_) / n);
}

void RowPlaces::random_places(std::uint64_t first_row, std::span<std::uint64_t> places) const {
  shuffled_.fill(first_row, places);
}

void RowPlaces::groups(const RowBlock& block, std::uint64_t rows_per_group, std::uint64_t num_groups,
                       std::span<std::uint32_t> groups) const {
  const auto number = [&](std::size_t i) { return block.numbers.empty() ? block.first_row + i : block.numbers[i]; };
  std::vector<std::uint64_t> places(groups.size());
  if (assignment_ == GroupAssignment::random && block.numbers.empty()) {
    shuffled_.fill(block.first_row, places);
  } else {
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = (*this)(number(i), block.keys.empty() ? 0 : block.keys[i]);
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t group = places[i] < num_held_out_ ? num_groups : (places[i] - num_held_out_) / rows_per_group;
    groups[i] = static_cast<std::uint32_t>(std::min(group, num_groups));
  }
}

}  // namespace kqd
