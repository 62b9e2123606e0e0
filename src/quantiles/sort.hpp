#pragma once
#include <cstdint>
#include <span>

#include "simd/sort.hpp"

namespace kqd {

using simd::sort_ascending;

/// order[k] = index of the k-th smallest value; equal values in the order of their indices, so the result is unique.
/// The values are finite, and there are at most 2^32 - 1 of them.
///
/// vqsort orders (float key, index) words, and runs of equal float keys are ordered by the doubles: as fast as the
/// float sort, as exact as the double one.
void argsort(std::span<const double> values, std::span<std::uint32_t> order);

}  // namespace kqd
