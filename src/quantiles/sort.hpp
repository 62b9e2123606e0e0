#pragma once
#include <cstdint>
#include <span>

namespace kqd {

/// Sorts ascending, in place. The values are finite: vqsort corrupts arrays that hold NaN.
void sort_ascending(std::span<double> values);

/// Sorts ascending, in place.
void sort_ascending(std::span<std::uint64_t> values);

/// order[k] = index of the k-th smallest value; equal values in the order of their indices, so the result is unique.
/// The values are finite, and there are at most 2^32 - 1 of them.
///
/// vqsort orders (float key, index) words, and runs of equal float keys are put right by the doubles: as fast as the
/// float sort, as exact as the double one.
void argsort(std::span<const double> values, std::span<std::uint32_t> order);

}  // namespace kqd
