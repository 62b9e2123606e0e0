#pragma once
#include <cstdint>
#include <span>

namespace kqd::simd {

/// The pooled rows along one direction, sorted once for all permutations.
struct SortedPool {
  std::span<const double> values;        ///< ascending
  std::span<const std::uint32_t> order;  ///< order[k] is the row of values[k]

  [[nodiscard]] std::size_t num_rows() const { return values.size(); }
};

}  // namespace kqd::simd
