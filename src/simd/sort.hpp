#pragma once
#include <cstdint>
#include <span>

namespace kqd::simd {

/// Sorts ascending, in place, by Highway's vqsort. The values are finite: vqsort corrupts arrays that hold NaN.
void sort_ascending(std::span<double> values);
void sort_ascending(std::span<std::uint64_t> values);

}  // namespace kqd::simd
