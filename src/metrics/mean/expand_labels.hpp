#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Labels as a factor of a matrix product: columns(i, b) = weight of the row at position first + i if labelling
/// `first_labelling + b` calls it X, else 0. No weights: all 1. `first_labelling` is a multiple of 64; columns beyond
/// the labellings in use are 0.
inline void expand_labels(std::span<const LabelBatch> batches, std::size_t first_labelling, std::size_t first,
                          std::span<const double> weights, MatrixView<double> columns) {
  for (std::size_t i = 0; i < columns.rows(); ++i) {
    const double weight = weights.empty() ? 1.0 : weights[first + i];
    const auto row = columns.row(i);
    for (std::size_t b = 0; b < row.size(); b += LabelBatch::kCapacity) {
      std::uint64_t word = batches[(first_labelling + b) / LabelBatch::kCapacity].words[first + i];
      const std::size_t count = std::min<std::size_t>(LabelBatch::kCapacity, row.size() - b);
      for (std::size_t k = 0; k < count; ++k, word >>= 1U) row[b + k] = (word & 1U) != 0 ? weight : 0.0;
    }
  }
}

}  // namespace kqd
