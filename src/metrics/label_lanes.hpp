#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "kqd/core/labels.hpp"

namespace kqd {

/// One number for each permutation of a batch: loops over lanes are what compilers vectorise.
using LabelLanes = std::array<double, LabelBatch::kCapacity>;

namespace detail {

inline constexpr auto kBitsOfByte = [] {
  std::array<std::array<double, 8>, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    for (std::size_t bit = 0; bit < 8; ++bit) table[byte][bit] = static_cast<double>((byte >> bit) & 1U);
  }
  return table;
}();

}  // namespace detail

/// lanes[b] = 1 where bit b is set, else 0.
inline void expand_bits(std::uint64_t word, LabelLanes& lanes) {
  for (std::size_t byte = 0; byte < 8; ++byte, word >>= 8U) {
    const auto& bits = detail::kBitsOfByte[word & 0xffU];
    for (std::size_t k = 0; k < 8; ++k) lanes[8 * byte + k] = bits[k];
  }
}

}  // namespace kqd
