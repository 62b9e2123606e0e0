#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Up to 64 permutations of the same pooled rows, one bit each: bit b of words[i] is set when row i is labelled X in
/// permutation b. Bits at and above `count` are 0.
struct LabelBatch {
  static constexpr unsigned kCapacity = 64;

  std::vector<std::uint64_t> words;            ///< one per pooled row
  unsigned count = 0;                          ///< permutations in use, 1..64
  std::array<std::size_t, kCapacity> num_x{};  ///< rows labelled X in each permutation; 0 from `count` on

  [[nodiscard]] std::size_t num_rows() const { return words.size(); }
  [[nodiscard]] bool is_x(std::size_t row, unsigned permutation) const {
    return ((words[row] >> permutation) & 1U) != 0;
  }
};

}  // namespace kqd
