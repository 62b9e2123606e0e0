#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/executor.hpp"
#include "core/pool.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// The pairs i < j over which an incomplete MMD averages
///
///   h_ij = k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(x_j, y_i):
///
/// row i meets the rows after it up to end(i). The linear-time MMD is the one of blocks of two rows.
class PairPattern {
 public:
  /// Pairs at most `width` rows apart [Sch22].
  [[nodiscard]] static PairPattern band(std::size_t num_rows, std::size_t width);
  /// All pairs within consecutive blocks of `size` rows; rows of an incomplete last block are not used [Zar13].
  [[nodiscard]] static PairPattern blocks(std::size_t num_rows, std::size_t size);

  /// Rows that meet others, counted from the first one.
  [[nodiscard]] std::size_t num_rows() const { return num_rows_; }
  [[nodiscard]] std::size_t num_pairs() const;
  /// The subdiagonals of a band, the rows of a block.
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool in_blocks() const { return in_blocks_; }
  /// One past the last row that row i meets.
  [[nodiscard]] std::size_t end(std::size_t i) const;
  /// The end of the tile that begins at row `first`; its rows have about the same partners.
  [[nodiscard]] std::size_t tile_end(std::size_t first) const;

 private:
  PairPattern(bool in_blocks, std::size_t num_rows, std::size_t width)
      : in_blocks_(in_blocks), num_rows_(num_rows), width_(width) {}

  bool in_blocks_;
  std::size_t num_rows_;
  std::size_t width_;
};

/// Two samples of equal length whose rows form pairs: x_i and y_i are rows x[i] and y[i] of the pool.
struct PairedRows {
  Pool pool;
  std::span<const std::size_t> x;
  std::span<const std::size_t> y;
};

/// Calls body(i, j, terms) with terms[k] = h_{i, j + k} for pieces of rows that cover every pair of the pattern once;
/// pieces of one row come in order and from one thread. Kernel values are not stored.
void for_each_term(const Kernel& kernel, const PairPattern& pattern, const PairedRows& rows, ThreadCount threads,
                   FunctionRef<void(std::size_t i, std::size_t j, std::span<const double> terms)> body);

/// sum over j of h_ij for every row i of the pattern. Throws Error{non_finite_value} when one overflows.
[[nodiscard]] std::vector<double> term_row_sums(const Kernel& kernel, const PairPattern& pattern,
                                                const PairedRows& rows, ThreadCount threads);

/// The mean of all terms from their row sums.
[[nodiscard]] double mean_term(const PairPattern& pattern, std::span<const double> row_sums);

}  // namespace kqd
