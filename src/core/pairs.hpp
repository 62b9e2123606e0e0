#pragma once
#include <cstddef>
#include <vector>

namespace kqd {

/// The indices of two of several samples, i < j.
struct IndexPair {
  std::size_t i;
  std::size_t j;
};

/// All pairs of `count` samples: (0, 1), (0, 2), ..., (1, 2), ...
[[nodiscard]] inline std::vector<IndexPair> all_pairs(std::size_t count) {
  std::vector<IndexPair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

}  // namespace kqd
