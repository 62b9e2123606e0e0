#pragma once

namespace kqd {

/// The weight of a gap between neighbouring pooled values.
enum class GapWeight {
  size,              ///< its size: Wasserstein distances
  anderson_darling,  ///< 1 / sqrt(F (1 - F)) where the values differ: by ranks, tails count as the middle [AD52]
};

}  // namespace kqd
