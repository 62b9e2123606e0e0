#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/random.hpp"

namespace kqd {

/// Sets the 64 permutations of `units` (bit b: X in permutation b) to independent draws, each uniform over the choices
/// of `num_x` of the units; at least one unit, num_x <= units.size().
void draw_labels(std::size_t num_x, std::span<std::uint64_t> units, RandomStream& stream);

/// How many of the words have bit b set, for each b.
[[nodiscard]] std::array<std::size_t, 64> count_bits_by_column(std::span<const std::uint64_t> words);

}  // namespace kqd
