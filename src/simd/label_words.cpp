#include "simd/label_words.hpp"

#include "core/fail.hpp"

namespace kqd::simd {

Matrix<std::uint64_t> side_by_side(std::span<const LabelBatch> batches) {
  const std::size_t num_rows = batches.empty() ? 0 : batches.front().num_rows();
  Matrix<std::uint64_t> words(num_rows, batches.size());
  for (std::size_t b = 0; b < batches.size(); ++b) {
    KQD_ASSERT(batches[b].num_rows() == num_rows);
    for (std::size_t row = 0; row < num_rows; ++row) words(row, b) = batches[b].words[row];
  }
  return words;
}

}  // namespace kqd::simd
