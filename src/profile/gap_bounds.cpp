#include "profile/gap_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

// The ends of a bin. The open ones end where no value can be beyond.
struct Bin {
  double low;
  double high;
};

Bin bin_of(const LineGrid& grid, std::size_t b, double bound) {
  const bool is_last = b == grid.edges.size();
  const double low = b == 0 ? std::min(-bound, is_last ? -bound : grid.edges[b]) : grid.edges[b - 1];
  return {low, is_last ? std::max(bound, low) : grid.edges[b]};
}

// ---- p = 1, uniform levels ----

// F_X - F_Y over a bin: at its ends, its limits inside, and its integral.
struct Difference {
  double at_low;
  double at_high;
  double least;
  double largest;
  double integral;
  double width;
};

GapBounds bounds_of(const Difference& d) {
  const double size = std::abs(d.integral);
  if (d.least >= 0.0 || d.largest <= 0.0) return {size, size, size};
  // The largest integral of |D| has D = largest on a part of the bin and D = least on the rest of it.
  const double part = std::clamp((d.integral - d.width * d.least) / (d.largest - d.least), 0.0, d.width);
  const double upper = std::max(size, part * d.largest - (d.width - part) * d.least);
  if (!(d.at_low * d.at_high < 0.0)) return {size, size, upper};
  // The sign of D changes; the estimate has a straight line between its ends.
  const double a = std::abs(d.at_low);
  const double b = std::abs(d.at_high);
  return {size, std::clamp(0.5 * d.width * (a * a + b * b) / (a + b), size, upper), upper};
}

// The integral of the distribution function over a bin, less its value at the low end times the width: the mean of
// (high - value) over the rows of the bin.
double rise_inside(const BinnedSample& sample, std::size_t b, double high) {
  return (static_cast<double>(sample.counts[b]) * high - sample.sums[b]) / static_cast<double>(sample.num_rows);
}

GapBounds bounded_area(const LineGrid& grid, const BinnedSample& x, const BinnedSample& y, double bound) {
  GapBounds total;
  std::uint64_t x_below = 0;
  std::uint64_t y_below = 0;
  CompensatedSum lower;
  CompensatedSum value;
  CompensatedSum upper;
  double slack = 0.0;
  const auto share = [](std::uint64_t rows, const BinnedSample& of) {
    return static_cast<double>(rows) / static_cast<double>(of.num_rows);
  };
  for (std::size_t b = 0; b < grid.num_bins(); ++b) {
    const Bin bin = bin_of(grid, b, bound);
    const double x_low = share(x_below, x);
    const double y_low = share(y_below, y);
    x_below += x.counts[b];
    y_below += y.counts[b];
    const double x_high = share(x_below, x);
    const double y_high = share(y_below, y);
    const double width = bin.high - bin.low;
    const double inside = rise_inside(x, b, bin.high) - rise_inside(y, b, bin.high);
    const GapBounds found = bounds_of({.at_low = x_low - y_low,
                                       .at_high = x_high - y_high,
                                       .least = x_low - y_high,
                                       .largest = x_high - y_low,
                                       .integral = width * (x_low - y_low) + inside,
                                       .width = width});
    lower.add(found.lower);
    value.add(found.value);
    upper.add(found.upper);
    const double masses = (x_high - x_low) + (y_high - y_low);
    const double size = std::max(std::abs(bin.low), std::abs(bin.high));
    // Rounding of the sums, and of some ten operations on shares of at most 1 and values of at most `size`.
    slack += masses * (std::max(x.rounding, y.rounding) + 16.0 * kEps * size) + 16.0 * kEps * width;
  }
  return {std::max(0.0, lower.value() - slack), value.value(), upper.value() + slack};
}

// ---- Other powers and levels ----

// Calls visit(bin of X, bin of Y, mass) for every piece of levels, as LevelGrid has them for rows.
template <class Visit>
void visit_pieces_of_bins(const BinnedSample& x, const BinnedSample& y, const LevelWeights& levels,
                          const Visit& visit) {
  __extension__ using Wide = unsigned __int128;
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint64_t x_rows = x.counts[0];
  std::uint64_t y_rows = y.counts[0];
  double below = 0.0;
  while (true) {
    while (x_rows == 0) x_rows += x.counts[++i];
    while (y_rows == 0) y_rows += y.counts[++j];
    const Wide x_level = Wide{x_rows} * y.num_rows;
    const Wide y_level = Wide{y_rows} * x.num_rows;
    const bool x_moves = x_level <= y_level;
    const bool y_moves = y_level <= x_level;
    const double level = x_moves ? static_cast<double>(x_rows) / static_cast<double>(x.num_rows)
                                 : static_cast<double>(y_rows) / static_cast<double>(y.num_rows);
    const double up_to = levels.cdf(level);
    visit(i, j, std::max(0.0, up_to - below));
    below = std::max(below, up_to);
    if (x_rows == x.num_rows && y_rows == y.num_rows) return;
    const auto next = [](const BinnedSample& sample, std::size_t& bin, std::uint64_t& rows) {
      const std::uint64_t before = rows;
      while (rows == before) rows += sample.counts[++bin];
    };
    if (x_moves) next(x, i, x_rows);
    if (y_moves) next(y, j, y_rows);
  }
}

struct Piece {
  double gap;
  double mass;
};

double norm_of(const std::vector<Piece>& pieces, double p) {
  double largest = 0.0;
  for (const Piece& piece : pieces) {
    if (piece.mass > 0.0) largest = std::max(largest, piece.gap);
  }
  if (std::isinf(p) || !(largest > 0.0)) return largest;
  CompensatedSum sum;
  for (const Piece& piece : pieces) {
    if (piece.mass > 0.0) sum.add(piece.mass * std::pow(piece.gap / largest, p));
  }
  return largest * std::pow(sum.value(), 1.0 / p);
}

GapBounds bounded_norm(const LineGrid& grid, const BinnedSample& x, const BinnedSample& y, double bound, double p,
                       const LevelWeights& levels) {
  std::vector<Piece> lower;
  std::vector<Piece> value;
  std::vector<Piece> upper;
  const auto mean_of = [](const BinnedSample& sample, std::size_t b, const Bin& bin) {
    return std::clamp(sample.sums[b] / static_cast<double>(sample.counts[b]), bin.low, bin.high);
  };
  visit_pieces_of_bins(x, y, levels, [&](std::size_t i, std::size_t j, double mass) {
    const Bin of_x = bin_of(grid, i, bound);
    const Bin of_y = bin_of(grid, j, bound);
    // A mass is a difference of two levels.
    const double rounding = mass > 0.0 ? 4.0 * kEps : 0.0;
    lower.push_back({std::max({0.0, of_x.low - of_y.high, of_y.low - of_x.high}), std::max(0.0, mass - rounding)});
    value.push_back({std::abs(mean_of(x, i, of_x) - mean_of(y, j, of_y)), mass});
    upper.push_back({std::max(of_x.high - of_y.low, of_y.high - of_x.low), mass + rounding});
  });
  // A few roundings of each power, of the sum and of the root.
  const double relative = (64.0 + 8.0 * (std::isinf(p) ? 1.0 : p)) * kEps;
  GapBounds found{norm_of(lower, p) * (1.0 - relative), norm_of(value, p), norm_of(upper, p) * (1.0 + relative)};
  found.value = std::clamp(found.value, found.lower, found.upper);
  return found;
}

}  // namespace

GapBounds bounded_gap(const LineGrid& grid, const BinnedSample& x, const BinnedSample& y, double bound, Power power,
                      const LevelWeights& levels) {
  if (power.value == 1.0 && levels.is_uniform()) return bounded_area(grid, x, y, bound);
  return bounded_norm(grid, x, y, bound, power.value, levels);
}

}  // namespace kqd
