#include "profile/line_grid.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kEqualBins = 192;
constexpr std::size_t kTailBins = 16;                              // beyond each end of the equal ones, at most
constexpr double kTailRatio = 0.7;                                 // of the rows below one edge to those below the next
constexpr std::size_t kFewValues = (LineGrid::kMostBins - 1) / 2;  // have bins between them
constexpr std::size_t kMostEdges = LineGrid::kMostBins - 1;

// Ascending, each value once. (std::ranges::unique does not compile with Clang 14.)
void sort_different(std::vector<double>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Edges at ranks of the sorted values: equal numbers of rows, and in the tails bins that shrink by a constant factor
// down to one row.
std::vector<double> edges_by_ranks(std::span<const double> sorted) {
  const auto n = static_cast<double>(sorted.size());
  std::vector<double> ranks;
  for (std::size_t k = 1; k < kEqualBins; ++k) {
    ranks.push_back(n * static_cast<double>(k) / static_cast<double>(kEqualBins));
  }
  double tail = n / static_cast<double>(kEqualBins);
  for (std::size_t k = 0; k < kTailBins && tail > 1.0; ++k) {
    tail *= kTailRatio;
    ranks.push_back(tail);
    ranks.push_back(n - tail);
  }
  std::vector<double> edges;
  for (const double rank : ranks) {
    const auto at = std::clamp<double>(std::floor(rank), 0.0, n - 1.0);
    edges.push_back(sorted[static_cast<std::size_t>(at)]);
  }
  sort_different(edges);
  // An edge that is the smallest value would leave the bin below it empty.
  std::erase(edges, sorted.front());
  return edges;
}

// A value that fills more than a bin by itself ends its bin, so that it is not mixed with what follows.
void add_edges_after_frequent_values(std::span<const double> sorted, std::vector<double>& edges) {
  const std::size_t many = sorted.size() / kEqualBins + 1;
  std::vector<double> more;
  for (auto at = sorted.begin(); at != sorted.end() && edges.size() + more.size() < kMostEdges;) {
    const auto end = std::upper_bound(at, sorted.end(), *at);
    if (static_cast<std::size_t>(end - at) >= many && end != sorted.end()) more.push_back(*end);
    at = end;
  }
  edges.insert(edges.end(), more.begin(), more.end());
  sort_different(edges);
}

// The different values of an ascending list, or none when there are more than `most`.
std::vector<double> different_values(std::span<const double> sorted, std::size_t most) {
  std::vector<double> values;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    if (k > 0 && sorted[k] == sorted[k - 1]) continue;
    if (values.size() == most) return {};
    values.push_back(sorted[k]);
  }
  return values;
}

double rank_weight(double below) {
  return 1.0 / std::sqrt(below * (1.0 - below));
}

// A bin for each value, and bins for what lies between two of them or beyond all: rows that the grid is not made from
// may have new values, which must not count as old ones.
LineGrid grid_of_values(std::span<const double> values, std::span<const double> sorted) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double first = values.front();
  const double last = values.back();
  const double size = std::max(1.0, std::abs(first));
  const double step = values.size() > 1 ? (last - first) / static_cast<double>(values.size() - 1) : size;
  const auto n = static_cast<double>(sorted.size());
  const double least = 1.0 / (n + 1.0);
  LineGrid grid;
  grid.values.push_back(first - step);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double value = values[k];
    const bool is_last = k + 1 == values.size();
    const auto below = static_cast<double>(std::ranges::upper_bound(sorted, value) - sorted.begin());
    grid.edges.push_back(value);
    grid.values.push_back(value);
    if (k == 0) grid.rank_weights.push_back(rank_weight(least));
    const double above = is_last ? rank_weight(least) : 0.5 * rank_weight(below / n);
    grid.rank_weights.push_back(above);
    const double next = std::nextafter(value, kInfinite);
    if (!is_last && next == values[k + 1]) {  // nothing lies between them
      grid.rank_weights.back() *= 2.0;
      continue;
    }
    grid.edges.push_back(next);
    grid.values.push_back(is_last ? last + step : value + 0.5 * (values[k + 1] - value));
    if (!is_last) grid.rank_weights.push_back(above);
  }
  return grid;
}

// The mean of ascending values that cannot leave their range.
double mean_within(std::span<const double> sorted) {
  CompensatedSum total;
  for (const double v : sorted) total.add((v - sorted.front()) / static_cast<double>(sorted.size()));
  return std::clamp(sorted.front() + total.value(), sorted.front(), sorted.back());
}

}  // namespace

std::vector<double> LineGrid::gap_weights(GapWeight weight) const {
  if (weight == GapWeight::anderson_darling) return rank_weights;
  std::vector<double> gaps(edges.size());
  for (std::size_t b = 0; b < gaps.size(); ++b) gaps[b] = values[b + 1] - values[b];
  return gaps;
}

LineGrid make_line_grid(std::span<double> values) {
  KQD_ASSERT(!values.empty());
  sort_ascending(values);
  const std::span<const double> sorted = values;
  if (const auto few = different_values(sorted, kFewValues); !few.empty()) return grid_of_values(few, sorted);
  LineGrid grid;
  if (const auto each = different_values(sorted, LineGrid::kMostBins); !each.empty()) {
    grid.edges.assign(each.begin() + 1, each.end());
  } else {
    grid.edges = edges_by_ranks(sorted);
    add_edges_after_frequent_values(sorted, grid.edges);
  }
  grid.rank_weights.assign(grid.edges.size(), 0.0);
  const auto n = static_cast<double>(sorted.size());
  std::size_t begin = 0;
  for (std::size_t b = 0; b <= grid.edges.size(); ++b) {
    const bool last = b == grid.edges.size();
    const std::size_t end =
        last ? sorted.size()
             : static_cast<std::size_t>(std::ranges::lower_bound(sorted, grid.edges[b]) - sorted.begin());
    grid.values.push_back(mean_within(sorted.subspan(begin, end - begin)));
    double inside = 0.0;
    for (std::size_t k = begin + 1; k < end; ++k) {
      const double below = static_cast<double>(k) / n;
      if (sorted[k] != sorted[k - 1]) inside += rank_weight(below);
    }
    const double share = b > 0 && !last ? 0.5 : 1.0;
    if (b > 0) grid.rank_weights[b - 1] += share * inside;
    if (!last) {
      const double below = static_cast<double>(end) / n;
      grid.rank_weights[b] += share * inside + rank_weight(below);
    }
    begin = end;
  }
  return grid;
}

BinFinder::BinFinder(std::span<const double> edges) : edges_(edges.begin(), edges.end()) {
  edges_.insert(edges_.end(), 2, std::numeric_limits<double>::infinity());
  if (edges.empty()) return;
  // Cells span the middle of the edges: a few far ones must not leave the others in one cell.
  const std::size_t aside = edges.size() / 16;
  low_ = edges[aside];
  const double width = edges[edges.size() - 1 - aside] - low_;
  const double scale = static_cast<double>(kCells - 2) / width;
  scale_ = std::isfinite(scale) ? scale : 0.0;  // 0: one cell, which is searched
  for (std::size_t cell = 0, k = 0; cell <= kCells; ++cell) {
    while (k < edges.size() && cell_of(edges[k]) < cell) ++k;
    first_[cell] = static_cast<std::uint16_t>(k);
  }
}

// Halves the range without a branch.
std::size_t BinFinder::search(std::size_t first, std::size_t last, double v) const {
  for (std::size_t left = last - first; left > 0;) {
    const std::size_t half = (left + 1) / 2;
    first += edges_[first + half - 1] <= v ? half : 0;
    left -= half;
  }
  return first;
}

void BinFinder::find(MatrixView<const double> values, std::size_t column, std::span<std::uint8_t> bins) const {
  constexpr std::size_t kAtATime = 256;
  std::array<double, kAtATime> some{};
  std::array<std::uint32_t, kAtATime> cells{};
  for (std::size_t first = 0; first < bins.size(); first += kAtATime) {
    const std::size_t count = std::min(kAtATime, bins.size() - first);
    for (std::size_t i = 0; i < count; ++i) some[i] = values(first + i, column);
    for (std::size_t i = 0; i < count; ++i) cells[i] = cell_of(some[i]);  // which the compiler makes vectors of
    for (std::size_t i = 0; i < count; ++i) bins[first + i] = static_cast<std::uint8_t>(in_cell(cells[i], some[i]));
  }
}

}  // namespace kqd
