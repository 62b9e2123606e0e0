#include "metrics/mean/incomplete_mmd.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTile = 256;
constexpr std::size_t kFewestRowsPerTile = 16;
constexpr std::size_t kColumnsPerTile = 512;
constexpr std::size_t kPairsAtATime = 1024;

Matrix<double> gather_range(const Pool& pool, std::span<const std::size_t> rows, std::size_t begin, std::size_t end) {
  return gather(pool, rows.subspan(begin, end - begin));
}

using Body = FunctionRef<void(std::size_t, std::size_t, std::span<const double>)>;

// h of rows [begin, end) against columns [first, last), the pairs of the pattern among them. All four kernel tiles are
// evaluated in the same way, so that for y_i = x_i every h is 0 to the last bit.
void terms_of_tile(const Kernel& kernel, const PairPattern& pattern, const PairedRows& rows, std::size_t begin,
                   std::size_t end, std::size_t first, std::size_t last, Body body) {
  const Matrix<double> x = gather_range(rows.pool, rows.x, begin, end);
  const Matrix<double> y = gather_range(rows.pool, rows.y, begin, end);
  const KernelBlock by_x(kernel, gather_range(rows.pool, rows.x, first, last));
  const KernelBlock by_y(kernel, gather_range(rows.pool, rows.y, first, last));
  Matrix<double> xx(end - begin, last - first);
  Matrix<double> xy(end - begin, last - first);
  Matrix<double> yx(end - begin, last - first);
  Matrix<double> yy(end - begin, last - first);
  by_x.evaluate(x, xx);
  by_y.evaluate(x, xy);
  by_x.evaluate(y, yx);
  by_y.evaluate(y, yy);
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t from = std::max(first, i + 1);
    const std::size_t to = std::min(last, pattern.end(i));
    if (from >= to) continue;
    const std::size_t r = i - begin;
    const auto h = xx.row(r).subspan(from - first, to - from);
    for (std::size_t k = 0; k < h.size(); ++k) {
      const std::size_t c = from - first + k;
      h[k] = (xx(r, c) - xy(r, c)) + (yy(r, c) - yx(r, c));
    }
    body(i, from, h);
  }
}

// Blocks of two rows: one pair per block, row with row.
void terms_of_neighbours(const Kernel& kernel, const PairedRows& rows, std::size_t begin, std::size_t end, Body body) {
  const std::size_t count = (end - begin) / 2;
  const auto every_other = [&](std::span<const std::size_t> from, std::size_t offset) {
    std::vector<std::size_t> chosen(count);
    for (std::size_t k = 0; k < count; ++k) chosen[k] = from[begin + 2 * k + offset];
    return gather(rows.pool, chosen);
  };
  const Matrix<double> x = every_other(rows.x, 0);
  const Matrix<double> next_x = every_other(rows.x, 1);
  const Matrix<double> y = every_other(rows.y, 0);
  const Matrix<double> next_y = every_other(rows.y, 1);
  std::vector<double> xx(count);
  std::vector<double> xy(count);
  std::vector<double> yx(count);
  std::vector<double> yy(count);
  evaluate_pairs(kernel, x, next_x, xx);
  evaluate_pairs(kernel, x, next_y, xy);
  evaluate_pairs(kernel, y, next_x, yx);
  evaluate_pairs(kernel, y, next_y, yy);
  for (std::size_t k = 0; k < count; ++k) {
    const double h = (xx[k] - xy[k]) + (yy[k] - yx[k]);
    body(begin + 2 * k, begin + 2 * k + 1, {&h, 1});
  }
}

}  // namespace

PairPattern PairPattern::band(std::size_t num_rows, std::size_t width) {
  return {false, num_rows, std::min(width, num_rows - 1)};
}

PairPattern PairPattern::blocks(std::size_t num_rows, std::size_t size) {
  const std::size_t width = std::min(size, num_rows);
  return {true, num_rows - num_rows % width, width};
}

std::size_t PairPattern::num_pairs() const {
  if (in_blocks_) return num_rows_ / width_ * (width_ * (width_ - 1) / 2);
  return width_ * (2 * num_rows_ - width_ - 1) / 2;
}

std::size_t PairPattern::end(std::size_t i) const {
  return in_blocks_ ? (i / width_ + 1) * width_ : std::min(num_rows_, i + width_ + 1);
}

std::size_t PairPattern::tile_end(std::size_t first) const {
  if (in_blocks_) return std::min(end(first), first + kRowsPerTile);
  // As many rows as subdiagonals: at most half of the kernel values of a tile are outside of the band.
  return std::min(num_rows_, first + std::clamp(width_, kFewestRowsPerTile, kRowsPerTile));
}

void for_each_term(const Kernel& kernel, const PairPattern& pattern, const PairedRows& rows, ThreadCount threads,
                   Body body) {
  if (pattern.in_blocks() && pattern.width() == 2) {
    parallel_for_blocks(pattern.num_rows(), 2 * kPairsAtATime, threads, [&](std::size_t begin, std::size_t end) {
      terms_of_neighbours(kernel, rows, begin, end, body);
    });
    return;
  }
  std::vector<std::size_t> begins;
  for (std::size_t begin = 0; begin < pattern.num_rows(); begin = pattern.tile_end(begin)) begins.push_back(begin);
  parallel_for_blocks(begins.size(), 1, threads, [&](std::size_t t, std::size_t) {
    const std::size_t end = pattern.tile_end(begins[t]);
    const std::size_t last = pattern.end(end - 1);
    for (std::size_t first = begins[t]; first < last; first += kColumnsPerTile) {
      terms_of_tile(kernel, pattern, rows, begins[t], end, first, std::min(last, first + kColumnsPerTile), body);
    }
  });
}

std::vector<double> term_row_sums(const Kernel& kernel, const PairPattern& pattern, const PairedRows& rows,
                                  ThreadCount threads) {
  std::vector<double> sums(pattern.num_rows(), 0.0);
  for_each_term(kernel, pattern, rows, threads, [&](std::size_t i, std::size_t, std::span<const double> terms) {
    double total = 0.0;
    for (const double h : terms) total += h;
    sums[i] += total;
  });
  require_finite(sums, "the MMD");
  return sums;
}

double mean_term(const PairPattern& pattern, std::span<const double> row_sums) {
  return sum(row_sums) / static_cast<double>(pattern.num_pairs());
}

}  // namespace kqd
