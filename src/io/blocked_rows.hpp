#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "core/executor.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Rows of numbers that grow in number, kept in blocks of whole rows.
///
/// A vector that doubles would hold the data up to three times while it grows. Blocks never move, and drain() gives
/// each back to the system once it was seen, so a matrix filled from the blocks and the blocks together take the space
/// of the matrix and one block.
class BlockedRows {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{4} << 20U;

  BlockedRows() = default;
  /// Rows of `cols` >= 1 numbers; a block holds as many as fit into `block_bytes`, and one at least.
  explicit BlockedRows(std::size_t cols, std::size_t block_bytes = kBlockBytes);

  /// The rows of a matrix as they are, one block that does not grow.
  explicit BlockedRows(Matrix<double> whole);

  /// An estimate of the number of rows: room for all of them in one block, if no row has come yet and if that is no
  /// more than some gigabytes. Room that is not used takes no memory.
  void expect_rows(std::size_t count);

  /// True when all rows are in one block.
  [[nodiscard]] bool is_whole() const { return !whole_.empty() || blocks_.size() == 1; }
  /// All rows as a matrix, without a copy; leaves no rows. Needs is_whole().
  [[nodiscard]] Matrix<double> take_whole();

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }

  /// One more row: the place for its `cols` numbers, which hold 0 or what a dropped row held.
  [[nodiscard]] double* append_row() {
    if (rows_ == blocks_.size() * rows_per_block_) add_block();
    double* row = next_row_;
    next_row_ += cols_;
    ++rows_;
    return row;
  }

  /// `count` more rows of zeros. Pages that are not written take no memory.
  void append_rows(std::size_t count);

  /// As many more rows of zeros as fit into the last block, up to `count` >= 1 and at least one: these rows.
  [[nodiscard]] MatrixView<double> append_within_block(std::size_t count);

  /// Drops the rows that `keep` does not want; the others stay in their order. Not for rows of a matrix.
  void keep_rows(FunctionRef<bool(std::size_t row)> keep);

  /// Drops all rows and keeps the room of the first block. Not for rows of a matrix.
  void clear();

  [[nodiscard]] std::size_t num_blocks() const { return whole_.empty() ? blocks_.size() : 1; }
  [[nodiscard]] MatrixView<double> block(std::size_t index);

  /// Shows each block in order, with the number of its first row, and frees it; leaves no rows.
  void drain(FunctionRef<void(std::size_t first_row, MatrixView<const double> block)> visit);

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(double* pages) const;
  };
  using Pages = std::unique_ptr<double, Unmap>;

  void add_block();

  std::vector<Pages> blocks_;
  Matrix<double> whole_;  // in place of blocks
  double* next_row_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t rows_per_block_ = 0;
};

}  // namespace kqd
