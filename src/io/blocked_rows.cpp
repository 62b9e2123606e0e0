#include "io/blocked_rows.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

#include "core/fail.hpp"

namespace kqd {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

struct Mapping {
  void* pages;
  std::size_t bytes;
};

Mapping map_pages(std::size_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();  // NOLINT(cppcoreguidelines-pro-type-cstyle-cast): a POSIX macro
  return {pages, bytes};
}

// Whole huge pages, where the system has them: their first touch costs a hundredth of that of small ones.
Mapping map_huge_pages(std::size_t bytes) {
  const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  const Mapping wide = map_pages(rounded + kHugePage);
  char* const begin = static_cast<char*>(wide.pages);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  if (before < kHugePage) ::munmap(begin + before + rounded, kHugePage - before);
  ::madvise(begin + before, rounded, MADV_HUGEPAGE);
  return {begin + before, rounded};
}

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
  rows_ = 0;
  return std::exchange(whole_, {});
}

void BlockedRows::Unmap::operator()(double* pages) const {
  ::munmap(pages, bytes);
}

// Straight from the system: a heap may keep freed blocks for itself, and then draining would save nothing.
void BlockedRows::add_block() {
  const std::size_t bytes = rows_per_block_ * cols_ * sizeof(double);
  const Mapping mapping = bytes < kHugePage ? map_pages(bytes) : map_huge_pages(bytes);
  blocks_.push_back(Pages(static_cast<double*>(mapping.pages), Unmap{mapping.bytes}));
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

MatrixView<double> BlockedRows::block(std::size_t index) {
  if (is_whole()) return whole_;
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
