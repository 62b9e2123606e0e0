#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {

/// Rows in cells: the levels of a category, or pairs of levels. Sums over the rows of a cell that a permutation labels
/// X are what tests of shares and of relations need.
struct RowCells {
  static constexpr std::uint16_t kSkipped = 0xffff;  ///< cell of a row that does not count

  std::vector<std::uint16_t> of_row;
  std::size_t count = 0;
  std::vector<double> values = {};  ///< per row; empty: rows are counted

  /// The sum per cell over all rows.
  [[nodiscard]] std::vector<double> totals() const;
};

/// sums(c, b) = the sum over the rows of cell c that permutation b of the batch labels X. Counts are exact. Only the
/// first rows of the batch enter, as many as there are cells.
[[nodiscard]] Matrix<double> sums_of_x(const RowCells& rows, const LabelBatch& batch);

/// The labels of some rows of a batch.
[[nodiscard]] LabelBatch labels_of(const LabelBatch& batch, std::span<const std::uint32_t> rows);

}  // namespace kqd
