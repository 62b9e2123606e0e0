#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "kqd/core/types.hpp"

namespace kqd {

/// A pseudo-random permutation of {0, ..., size - 1} that is computed number by number, without a table: rows can be
/// assigned to groups in any order, in any number of parts.
///
/// A Feistel network [LR88] of eight rounds on the smallest even number of bits that holds the range; numbers beyond
/// the range are permuted again until they are inside (cycle walking [BR02]), four times at most on average.
class KeyedPermutation {
 public:
  /// The permutation follows from the size, the seed and the index. size > 0.
  KeyedPermutation(std::uint64_t size, Seed seed, std::uint64_t index);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The place of number `i` < size(); different numbers have different places.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const;
  /// The number whose place is `place` < size().
  [[nodiscard]] std::uint64_t number_at(std::uint64_t place) const;
  /// The places of first, first + 1, ...: faster than one by one.
  void fill(std::uint64_t first, std::span<std::uint64_t> places) const;

 private:
  [[nodiscard]] std::uint64_t permuted_once(std::uint64_t i) const;

  static constexpr unsigned kRounds = 8;

  std::uint64_t size_;
  unsigned half_bits_ = 1;
  std::array<std::uint64_t, kRounds> keys_{};
};

}  // namespace kqd
