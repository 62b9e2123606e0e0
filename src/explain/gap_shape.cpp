#include "explain/gap_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/summation.hpp"
#include "kqd/quantiles/level_weights.hpp"
#include "quantiles/quantile_gap.hpp"
#include "quantiles/weighted_quantiles.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumLevels = 99;

// Zones of pooled levels, and the share of the levels that each has.
enum Zone { kLower, kCentre, kUpper, kNumZones };
constexpr std::array<double, kNumZones> kShares = {0.25, 0.5, 0.25};
Zone zone_of(double level) {
  return level < 0.25 ? kLower : level <= 0.75 ? kCentre : kUpper;
}

struct ZoneGaps {
  std::array<double, kNumZones> observed{};  // parts of the area between the two distribution functions
  std::array<double, kNumZones> expected{};  // what chance makes of them on average
};

// A zone beside the one that stands out most counts when chance would hardly make as much of it, and when the gap
// there, chance taken off, is not much smaller than the largest.
constexpr double kBeyondChance = 2.5;
constexpr double kComparable = 0.4;

Where where_of(const ZoneGaps& gaps) {
  std::array<double, kNumZones> ratio{};
  std::array<double, kNumZones> excess{};
  for (std::size_t z = 0; z < kNumZones; ++z) {
    const double o = gaps.observed[z];
    const double e = gaps.expected[z];
    if (!(e > 0.0)) continue;
    ratio[z] = o / e;
    excess[z] = std::sqrt(std::max(0.0, o * o - e * e)) / kShares[z];
  }
  const auto first = static_cast<std::size_t>(std::ranges::max_element(ratio) - ratio.begin());
  if (!(ratio[first] > 1.5)) return Where::nowhere;
  std::array<bool, kNumZones> counts{};
  for (std::size_t z = 0; z < kNumZones; ++z) {
    counts[z] = z == first || (ratio[z] >= kBeyondChance && excess[z] >= kComparable * excess[first]);
  }
  if (counts[kLower] && counts[kCentre] && counts[kUpper]) return Where::everywhere;
  if (counts[kLower] && counts[kUpper]) return Where::both_tails;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(excess) - excess.begin());
  const std::size_t zone = counts[most] ? most : first;
  return zone == kLower ? Where::lower_tail : zone == kUpper ? Where::upper_tail : Where::centre;
}

// Splits the sorted pool into the quantile functions of both samples.
struct Split {
  WeightedQuantiles x;
  WeightedQuantiles y;
};

Split split(const LabelledLine& line) {
  Split groups;
  for (std::size_t k = 0; k < line.pool.num_rows(); ++k) {
    const std::uint32_t row = line.pool.order[k];
    (line.observed.is_x(row, 0) ? groups.x : groups.y)
        .add(line.pool.values[k], line.weights.empty() ? 1.0 : line.weights[row]);
  }
  return groups;
}

// 1 over the number of equally weighted rows that are worth as much as these.
double inverse_size(const LabelledLine& line, bool of_x) {
  double total = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < line.observed.num_rows(); ++i) {
    if (line.observed.is_x(i, 0) != of_x) continue;
    const double w = line.weights.empty() ? 1.0 : line.weights[i];
    total += w;
    squares += w * w;
  }
  return squares / (total * total);
}

ZoneGaps zone_gaps(const LabelledLine& line, const QuantileFunction& x, const QuantileFunction& y) {
  const std::vector<double> levels = pooled_levels(line.pool.order, line.weights);
  // Of a normal law with the variance that a difference of two distribution functions has under relabelling.
  const double chance = std::sqrt(2.0 / std::numbers::pi * (inverse_size(line, true) + inverse_size(line, false)));
  const auto reached = [](const QuantileFunction& q, std::size_t count) {
    if (count == 0) return 0.0;
    return q.cumulative.empty() ? static_cast<double>(count) / static_cast<double>(q.values.size())
                                : q.cumulative[count - 1];
  };
  ZoneGaps gaps;
  std::size_t num_x = 0;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (line.observed.is_x(line.pool.order[k], 0)) ++num_x;
    const double gap = line.pool.values[k + 1] - line.pool.values[k];
    if (!(gap > 0.0)) continue;
    const Zone zone = zone_of(levels[k]);
    gaps.observed[zone] += std::abs(reached(x, num_x) - reached(y, k + 1 - num_x)) * gap;
    gaps.expected[zone] += chance * std::sqrt(levels[k] * (1.0 - levels[k])) * gap;
  }
  return gaps;
}

double pooled_deviation(const LabelledLine& line, double mean) {
  CompensatedSum squares;
  CompensatedSum total;
  for (std::size_t k = 0; k < line.pool.num_rows(); ++k) {
    const double w = line.weights.empty() ? 1.0 : line.weights[line.pool.order[k]];
    squares.add(w * (line.pool.values[k] - mean) * (line.pool.values[k] - mean));
    total.add(w);
  }
  return std::sqrt(squares.value() / total.value());
}

double pooled_mean_of(const LabelledLine& line) {
  CompensatedSum values;
  CompensatedSum total;
  for (std::size_t k = 0; k < line.pool.num_rows(); ++k) {
    const double w = line.weights.empty() ? 1.0 : line.weights[line.pool.order[k]];
    values.add(w * line.pool.values[k]);
    total.add(w);
  }
  return values.value() / total.value();
}

}  // namespace

std::vector<double> pooled_levels(std::span<const std::uint32_t> order, std::span<const double> weights) {
  std::vector<double> levels(order.empty() ? 0 : order.size() - 1);
  if (weights.empty()) {
    for (std::size_t k = 0; k < levels.size(); ++k) {
      levels[k] = static_cast<double>(k + 1) / static_cast<double>(order.size());
    }
    return levels;
  }
  CompensatedSum total;
  for (const std::uint32_t row : order) total.add(weights[row]);
  CompensatedSum below;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    below.add(weights[order[k]]);
    levels[k] = std::min(1.0, below.over(total));
  }
  return levels;
}

GapShape gap_shape(const LabelledLine& line) {
  Split groups = split(line);
  const bool weighted = !line.weights.empty();
  const QuantileFunction x = weighted ? groups.x.function() : QuantileFunction{groups.x.values(), {}};
  const QuantileFunction y = weighted ? groups.y.function() : QuantileFunction{groups.y.values(), {}};
  GapShape shape;
  const double gap = weighted ? quantile_gap(x, y, LevelWeights{}, Power{1.0})
                              : quantile_gap(x.values, y.values,
                                             LevelGrid(x.values.size(), y.values.size(), LevelWeights{}), Power{1.0});
  shape.wasserstein = gap * line.unit;
  shape.scale = pooled_deviation(line, pooled_mean_of(line)) * line.unit;
  shape.shift = (y.at(0.5) - x.at(0.5)) * line.unit;
  shape.mean_shift = (groups.y.mean() - groups.x.mean()) * line.unit;
  shape.where = where_of(zone_gaps(line, x, y));
  for (std::size_t k = 1; k <= kNumLevels; ++k) {
    const double level = static_cast<double>(k) / static_cast<double>(kNumLevels + 1);
    shape.profile.levels.push_back(level);
    shape.profile.difference.push_back((y.at(level) - x.at(level)) * line.unit);
  }
  return shape;
}

}  // namespace kqd
