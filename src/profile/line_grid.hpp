#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "quantiles/gap_weight.hpp"

namespace kqd {

/// A grid along one direction: bin b holds values v with edges[b - 1] <= v < edges[b], the first and the last bin are
/// open. Made once from some rows, used unchanged for all others.
struct LineGrid {
  static constexpr std::size_t kMostBins = 256;

  std::vector<double> edges;   ///< ascending, different
  std::vector<double> values;  ///< one per bin: what its rows count as
  /// Weight of the gap between bins b and b + 1 by ranks (GapWeight::anderson_darling).
  std::vector<double> rank_weights;

  [[nodiscard]] std::size_t num_bins() const { return values.size(); }
  /// Weight of the gap between bins b and b + 1: values[b + 1] - values[b], or by ranks.
  [[nodiscard]] std::vector<double> gap_weights(GapWeight weight) const;
};

/// The grid of some values, which are sorted in place: a bin for each of them when they take at most 127 different
/// values, and bins for new values between and beyond them; only the former up to 256 values; else 192 bins of equal
/// numbers of rows with ever narrower ones in both tails, and a bin of its own for each value that many rows share. A
/// bin counts as the mean of its rows.
///
/// Weights by ranks are those of the rows themselves, 1 / sqrt(F (1 - F)) at each gap between different values; gaps
/// inside a bin are shared by its two ends.
[[nodiscard]] LineGrid make_line_grid(std::span<double> values);

/// Finds the place of a value among ascending edges by a table of cells of equal width, most of which have at most two
/// edges: these are compared without a branch, since no branch predictor foresees a random value.
class BinFinder {
 public:
  explicit BinFinder(const LineGrid& grid) : BinFinder(std::span<const double>(grid.edges)) {}
  /// Ascending edges, which may be equal; fewer than 2^16.
  explicit BinFinder(std::span<const double> edges);

  /// The number of edges that are at most v.
  [[nodiscard]] std::size_t operator()(double v) const { return in_cell(cell_of(v), v); }

  /// bins[i] = the same of values(i, column), for at most 256 edges. Faster than one by one.
  void find(MatrixView<const double> values, std::size_t column, std::span<std::uint8_t> bins) const;

 private:
  static constexpr std::size_t kCells = 2048;

  [[nodiscard]] std::uint32_t cell_of(double v) const {
    constexpr auto kLast = static_cast<double>(kCells - 1);
    const double place = (v - low_) * scale_;  // rises with v, rounding included
    const double inside = place > 0.0 ? place : 0.0;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(inside < kLast ? inside : kLast));
  }
  [[nodiscard]] std::size_t in_cell(std::size_t cell, double v) const {
    const std::size_t first = first_[cell];
    if (first_[cell + 1] - first > 2) return search(first, first_[cell + 1], v);
    return first + (edges_[first] <= v ? 1U : 0U) + (edges_[first + 1] <= v ? 1U : 0U);
  }
  [[nodiscard]] std::size_t search(std::size_t first, std::size_t last, double v) const;

  std::vector<double> edges_;  // and two that are infinite
  double low_ = 0.0;
  double scale_ = 0.0;
  std::array<std::uint16_t, kCells + 1> first_{};  // edges in earlier cells
};

}  // namespace kqd
