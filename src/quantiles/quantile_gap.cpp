#include "quantiles/quantile_gap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "simd/gap_sum.hpp"

namespace kqd {
namespace {

// Pieces that go to the vector loop together.
constexpr std::size_t kPiecesPerBlock = 512;

// Above this order, and wherever the plain sum leaves the range of doubles, gaps are divided by the largest first.
constexpr double kScaledPower = 8.0;

// Feeds blocks of pieces (x values, y values, masses) to a consumer: aligned grids as they lie in memory, others
// gathered 512 at a time. One walk serves sums and maxima alike.
template <class Consume>
void walk_pieces(std::span<const double> x, std::span<const double> y, const LevelGrid& grid, const Consume& consume) {
  const auto masses = grid.masses();
  if (grid.aligned()) return consume(x, y, masses);
  std::array<double, kPiecesPerBlock> xs;
  std::array<double, kPiecesPerBlock> ys;
  std::size_t i = 0;
  std::size_t j = 0;
  for (std::size_t begin = 0; begin < grid.num_pieces(); begin += kPiecesPerBlock) {
    const std::size_t count = std::min(kPiecesPerBlock, grid.num_pieces() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      xs[k] = x[i];
      ys[k] = y[j];
      const unsigned step = grid.steps()[begin + k];
      i += step & 1U;
      j += step >> 1U;
    }
    consume(std::span(xs).first(count), std::span(ys).first(count), masses.subspan(begin, count));
  }
}

// Sums of weights are rounded: 0.1 + 0.2 and 0.3 are one level, with no piece between them. p = infinity would see
// it. The level 1 is exact, so a piece just below it counts, however small.
bool same_level(double a, double b) {
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  return a == b || (std::max(a, b) < 1.0 && std::abs(a - b) <= kRounding * std::max(a, b));
}

// Calls visit(i, j, mass) for every piece: x_(i) is compared with y_(j) over levels of that mass.
template <class Visit>
void visit_weighted_pieces(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights,
                           const Visit& visit) {
  const auto level_up_to = [](const QuantileFunction& q, std::size_t i) {
    if (!q.cumulative.empty()) return q.cumulative[i];
    return i + 1 == q.values.size() ? 1.0 : static_cast<double>(i + 1) / static_cast<double>(q.values.size());
  };
  std::size_t i = 0;
  std::size_t j = 0;
  double below = 0.0;
  while (i < x.values.size() && j < y.values.size()) {
    const double x_level = level_up_to(x, i);
    const double y_level = level_up_to(y, j);
    const double up_to = weights.cdf(std::min(x_level, y_level));
    visit(i, j, std::max(0.0, up_to - below));
    below = std::max(below, up_to);
    const bool both_move = same_level(x_level, y_level);
    if (both_move || x_level < y_level) ++i;
    if (both_move || y_level < x_level) ++j;
  }
}

// The same for equally weighted samples.
template <class Visit>
void visit_pieces(const LevelGrid& grid, const Visit& visit) {
  const auto masses = grid.masses();
  const double unit_mass = 1.0 / static_cast<double>(grid.num_pieces());
  std::size_t i = 0;
  std::size_t j = 0;
  for (std::size_t k = 0; k < grid.num_pieces(); ++k) {
    visit(i, j, masses.empty() ? unit_mass : masses[k]);
    const unsigned step = grid.aligned() ? 3U : grid.steps()[k];
    i += step & 1U;
    j += step >> 1U;
  }
}

template <class Consume>
void walk_weighted_pieces(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights,
                          const Consume& consume) {
  std::array<double, kPiecesPerBlock> xs;
  std::array<double, kPiecesPerBlock> ys;
  std::array<double, kPiecesPerBlock> masses;
  std::size_t count = 0;
  visit_weighted_pieces(x, y, weights, [&](std::size_t i, std::size_t j, double mass) {
    xs[count] = x.values[i];
    ys[count] = y.values[j];
    masses[count] = mass;
    if (++count == kPiecesPerBlock) {
      consume(std::span<const double>(xs), std::span<const double>(ys), std::span<const double>(masses));
      count = 0;
    }
  });
  if (count > 0) {
    consume(std::span<const double>(xs).first(count), std::span<const double>(ys).first(count),
            std::span<const double>(masses).first(count));
  }
}

// tau from any walk over pieces: `walk` calls its argument with blocks; `unit_mass` multiplies sums whose masses are 1.
template <class Walk>
double integrate(const Walk& walk, double unit_mass, double p, GapForm form) {
  simd::GapRule rule{.power = p, .scale = 0.0, .shift = form.shift, .centered = form.centered};
  const auto largest = [&] {
    double result = 0.0;
    walk([&](auto x, auto y, auto mass) { result = std::max(result, simd::largest_gap(x, y, mass, rule)); });
    return result;
  };
  const auto total = [&] {
    CompensatedSum sum;
    walk([&](auto x, auto y, auto mass) { sum.add(simd::gap_sum(x, y, mass, rule)); });
    return sum.value() * unit_mass;
  };
  const auto root = [&](double value) {
    return p == 1.0 ? value : p == 2.0 ? std::sqrt(value) : std::pow(value, 1.0 / p);
  };
  if (std::isinf(p)) return largest();
  if (p <= kScaledPower) {
    const double sum = total();
    if (std::isfinite(sum) && sum > 1e-280) return root(sum);
  }
  rule.scale = largest();
  if (rule.scale == 0.0 || std::isinf(rule.scale)) return rule.scale;
  return rule.scale * root(total());
}

double gap_of(double difference, GapForm form) {
  return form.centered ? std::sqrt(std::max(0.0, difference * difference + form.shift)) : std::abs(difference);
}

// tau and its slopes from any visit of pieces. With g = |D|, or sqrt(D^2 + shift), and M the largest g,
// tau = M (sum m (g/M)^p)^(1/p), so that no power leaves the range of doubles. d tau / d g = m (g/tau)^(p-1), and
// d g / d D = D/g, d g / d shift = 1/(2g).
template <class VisitAll>
GapValue slopes(const VisitAll& visit_all, std::span<const double> x, std::span<const double> y, double p,
                std::span<double> x_slopes, std::span<double> y_slopes, GapForm form) {
  std::ranges::fill(x_slopes, 0.0);
  std::ranges::fill(y_slopes, 0.0);
  double largest = 0.0;
  std::size_t largest_i = 0;
  std::size_t largest_j = 0;
  visit_all([&](std::size_t i, std::size_t j, double mass) {
    const double gap = gap_of(x[i] - y[j], form);
    if (!(mass > 0.0) || !(gap > largest)) return;
    largest = gap;
    largest_i = i;
    largest_j = j;
  });
  GapValue result{.tau = largest};
  if (!(largest > 0.0) || std::isinf(largest)) return result;
  const auto add = [&](std::size_t i, std::size_t j, double slope) {
    const double difference = x[i] - y[j];
    const double gap = gap_of(difference, form);
    if (gap == 0.0) return;
    // Plain: the sign only, so that no quotient rounds.
    const double along = form.centered ? slope * (difference / gap) : std::copysign(slope, difference);
    x_slopes[i] += along;
    y_slopes[j] -= along;
    if (form.centered) result.shift_slope += slope / (2.0 * gap);
  };
  if (std::isinf(p)) {
    add(largest_i, largest_j, 1.0);
    return result;
  }
  CompensatedSum total;
  visit_all([&](std::size_t i, std::size_t j, double mass) {
    const double gap = gap_of(x[i] - y[j], form) / largest;
    total.add(mass * (p == 1.0 ? gap : p == 2.0 ? gap * gap : std::pow(gap, p)));
  });
  const double tau = largest * (p == 2.0 ? std::sqrt(total.value()) : std::pow(total.value(), 1.0 / p));
  visit_all([&](std::size_t i, std::size_t j, double mass) {
    const double size = gap_of(x[i] - y[j], form) / tau;
    add(i, j, mass * (p == 1.0 ? 1.0 : p == 2.0 ? size : std::pow(size, p - 1.0)));
  });
  result.tau = tau;
  return result;
}

}  // namespace

double QuantileFunction::at(double level) const {
  if (cumulative.empty()) {
    // 1-based rank ceil(level n): the smallest with rank/n >= level. The product may round across a whole number,
    // either way, so the quotient decides.
    const std::size_t n = values.size();
    const auto reaches = [&](std::size_t rank) { return static_cast<double>(rank) / static_cast<double>(n) >= level; };
    std::size_t rank =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(level * static_cast<double>(n))), 1, n);
    while (rank > 1 && reaches(rank - 1)) --rank;
    while (rank < n && !reaches(rank)) ++rank;
    return values[rank - 1];
  }
  const auto place = std::ranges::lower_bound(cumulative, level);
  const auto index = std::min(static_cast<std::size_t>(place - cumulative.begin()), values.size() - 1);
  return values[index];
}

void require_levels_known(bool point_evaluated_levels, bool weighted) {
  if (!weighted || !point_evaluated_levels) return;
  fail(ErrorCode::invalid_option, "point-evaluated level weights need samples without row weights");
}

LevelGrid::LevelGrid(std::size_t nx, std::size_t ny, const LevelWeights& weights, bool point_evaluated)
    : nx_(nx), ny_(ny) {
  if (aligned()) {
    num_pieces_ = nx;
    if (point_evaluated) {
      masses_ = point_evaluated_masses(weights, nx);
    } else if (!weights.is_uniform()) {
      masses_ = level_masses(weights, nx);
    }
    return;
  }
  if (point_evaluated) {
    fail(ErrorCode::invalid_option, "point-evaluated level weights need samples of equal size, got {} and {}", nx, ny);
  }
  if (nx > (std::uint64_t{1} << 31U) || ny > (std::uint64_t{1} << 31U)) {
    fail(ErrorCode::resource_limit, "samples of {} and {} rows, at most 2147483648 can be compared on one grid", nx,
         ny);
  }
  masses_.reserve(nx + ny - 1);
  steps_.reserve(nx + ny - 1);
  double below = 0.0;
  for (std::size_t i = 1, j = 1; i <= nx && j <= ny;) {
    const std::uint64_t x_level = static_cast<std::uint64_t>(i) * ny;  // in units of 1/(nx ny)
    const std::uint64_t y_level = static_cast<std::uint64_t>(j) * nx;
    const bool x_moves = x_level <= y_level;
    const bool y_moves = y_level <= x_level;
    // The breakpoint as i/nx or j/ny is one rounding from the truth; both ends of a piece share it with its neighbour.
    const double level =
        x_moves ? static_cast<double>(i) / static_cast<double>(nx) : static_cast<double>(j) / static_cast<double>(ny);
    const double up_to = weights.cdf(level);
    masses_.push_back(std::max(0.0, up_to - below));
    steps_.push_back(static_cast<std::uint8_t>((x_moves ? 1U : 0U) | (y_moves ? 2U : 0U)));
    below = std::max(below, up_to);
    i += x_moves ? 1 : 0;
    j += y_moves ? 1 : 0;
  }
  num_pieces_ = masses_.size();
}

double quantile_gap(std::span<const double> x_sorted, std::span<const double> y_sorted, const LevelGrid& grid,
                    Power power, GapForm form) {
  KQD_ASSERT(x_sorted.size() == grid.nx() && y_sorted.size() == grid.ny());
  const double unit_mass = grid.masses().empty() ? 1.0 / static_cast<double>(grid.num_pieces()) : 1.0;
  return integrate([&](const auto& consume) { walk_pieces(x_sorted, y_sorted, grid, consume); }, unit_mass, power.value,
                   form);
}

double quantile_gap(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights, Power power,
                    GapForm form) {
  return integrate([&](const auto& consume) { walk_weighted_pieces(x, y, weights, consume); }, 1.0, power.value, form);
}

GapValue gap_slopes(std::span<const double> x, std::span<const double> y, const LevelGrid& grid, Power power,
                    std::span<double> x_slopes, std::span<double> y_slopes, GapForm form) {
  KQD_ASSERT(x.size() == grid.nx() && y.size() == grid.ny());
  return slopes([&](const auto& visit) { visit_pieces(grid, visit); }, x, y, power.value, x_slopes, y_slopes, form);
}

GapValue gap_slopes(const QuantileFunction& x, const QuantileFunction& y, const LevelWeights& weights, Power power,
                    std::span<double> x_slopes, std::span<double> y_slopes, GapForm form) {
  return slopes([&](const auto& visit) { visit_weighted_pieces(x, y, weights, visit); }, x.values, y.values,
                power.value, x_slopes, y_slopes, form);
}

}  // namespace kqd
