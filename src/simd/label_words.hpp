#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd::simd {

/// Words of labels per row that one call of a kernel takes: a cache line of them.
inline constexpr std::size_t kMaxLabelWords = 8;

/// The words of several batches side by side: row i holds one word per batch.
///
/// A direction visits the rows in random order. Once the words of a batch have left the cache, at some hundred thousand
/// rows, a visit costs as much as the work on its labels, so one visit serves several batches.
[[nodiscard]] Matrix<std::uint64_t> side_by_side(std::span<const LabelBatch> batches);

}  // namespace kqd::simd
