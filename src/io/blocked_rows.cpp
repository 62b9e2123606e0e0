#include "io/blocked_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/fail.hpp"
#include "core/pages.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLargestExpected = std::size_t{16} << 30U;

}  // namespace

BlockedRows::BlockedRows(std::size_t cols, std::size_t block_bytes)
    : cols_(cols), rows_per_block_(std::max<std::size_t>(1, block_bytes / sizeof(double) / cols)) {
  KQD_ASSERT(cols > 0);
}

BlockedRows::BlockedRows(Matrix<double> whole)
    : whole_(std::move(whole)), rows_(whole_.rows()), cols_(whole_.cols()), rows_per_block_(whole_.rows()) {
  KQD_ASSERT(!whole_.empty());
}

Matrix<double> BlockedRows::take_whole() {
  KQD_ASSERT(is_whole());
  const std::size_t rows = std::exchange(rows_, 0);
  if (!whole_.empty()) return std::exchange(whole_, {});
  const std::shared_ptr<double> block = std::move(blocks_.front());
  blocks_.clear();
  return {block.get(), rows, cols_, block};
}

void BlockedRows::expect_rows(std::size_t count) {
  if (rows_ > 0 || count <= rows_per_block_ || count > kLargestExpected / sizeof(double) / cols_) return;
  rows_per_block_ = count;
}

void BlockedRows::Unmap::operator()(double* pages) const {
  unmap_pages(pages, bytes);
}

// Straight from the system: a heap may keep freed blocks for itself, and then draining would save nothing.
void BlockedRows::add_block() {
  const std::size_t bytes = rows_per_block_ * cols_ * sizeof(double);
  blocks_.push_back(Pages(static_cast<double*>(map_pages(bytes)), Unmap{bytes}));
  next_row_ = blocks_.back().get();
}

MatrixView<double> BlockedRows::append_within_block(std::size_t count) {
  if (rows_ == blocks_.size() * rows_per_block_) add_block();
  const std::size_t added = std::min(count, blocks_.size() * rows_per_block_ - rows_);
  const MatrixView<double> rows(next_row_, added, cols_);
  next_row_ += added * cols_;
  rows_ += added;
  return rows;
}

void BlockedRows::append_rows(std::size_t count) {
  while (count > 0) count -= append_within_block(count).rows();
}

void BlockedRows::keep_rows(FunctionRef<bool(std::size_t)> keep) {
  KQD_ASSERT(whole_.empty());
  const auto place_of = [&](std::size_t row) {
    return blocks_[row / rows_per_block_].get() + row % rows_per_block_ * cols_;
  };
  std::size_t kept = 0;
  for (std::size_t row = 0; row < rows_; ++row) {
    if (!keep(row)) continue;
    if (kept < row) std::copy_n(place_of(row), cols_, place_of(kept));
    ++kept;
  }
  rows_ = kept;
  blocks_.resize((rows_ + rows_per_block_ - 1) / rows_per_block_);
  if (rows_ % rows_per_block_ != 0) next_row_ = place_of(rows_);
}

void BlockedRows::clear() {
  KQD_ASSERT(whole_.empty());
  rows_ = 0;
  if (blocks_.empty()) return;
  blocks_.resize(1);
  next_row_ = blocks_.front().get();
}

MatrixView<double> BlockedRows::block(std::size_t index) {
  if (!whole_.empty()) return whole_;
  return {blocks_[index].get(), std::min(rows_per_block_, rows_ - index * rows_per_block_), cols_};
}

void BlockedRows::drain(FunctionRef<void(std::size_t, MatrixView<const double>)> visit) {
  for (std::size_t k = 0; k < num_blocks(); ++k) {
    visit(k * rows_per_block_, block(k));
    if (k < blocks_.size()) blocks_[k].reset();
  }
  whole_ = {};
  blocks_.clear();
  rows_ = 0;
}

}  // namespace kqd
