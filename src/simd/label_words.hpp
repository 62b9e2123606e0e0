#pragma once
#include <cstdint>
#include <span>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd::simd {

/// The words of several batches side by side: row i holds one word per batch, so that one cache line serves up to
/// eight batches when rows are visited in the order of a direction.
[[nodiscard]] Matrix<std::uint64_t> side_by_side(std::span<const LabelBatch> batches);

}  // namespace kqd::simd
