#include "explain/gap_shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/summation.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "quantiles/quantile_gap.hpp"
#include "quantiles/weighted_quantiles.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumLevels = 99;

// Zones of pooled levels, and the share of the levels that each has.
enum Zone { kLower, kCentre, kUpper, kNumZones };
constexpr double kLowerEnd = 0.25;
constexpr double kUpperBegin = 0.75;
constexpr std::array<double, kNumZones> kShares = {kLowerEnd, kUpperBegin - kLowerEnd, 1.0 - kUpperBegin};

struct ZoneGaps {
  std::array<double, kNumZones> observed{};  // parts of the area between the two distribution functions
  std::array<double, kNumZones> expected{};  // their means under the null hypothesis
};

// A zone other than the strongest one counts if its gap is unlikely under the null hypothesis and, after subtracting
// the mean under the null hypothesis, not much smaller than the largest.
constexpr double kUnlikelyRatio = 2.5;
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
    counts[z] = z == first || (ratio[z] >= kUnlikelyRatio && excess[z] >= kComparable * excess[first]);
  }
  if (counts[kLower] && counts[kCentre] && counts[kUpper]) return Where::everywhere;
  if (counts[kLower] && counts[kUpper]) return Where::both_tails;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(excess) - excess.begin());
  const std::size_t zone = counts[most] ? most : first;
  return zone == kLower ? Where::lower_tail : zone == kUpper ? Where::upper_tail : Where::centre;
}

// The quantile functions of both samples: the sorted pool, split by label.
class Split {
 public:
  explicit Split(const LabelledLine& line) : num_x_(line.pool.num_rows()) {
    const std::size_t n = line.pool.num_rows();
    if (line.weights.empty()) {
      // Every value is written to both vectors and kept in one, to avoid a branch on a random label.
      x_values_.resize(n);
      y_values_.resize(n);
      std::size_t num_x = 0;
      for (std::size_t k = 0; k < n; ++k) {
        x_values_[num_x] = line.pool.values[k];
        y_values_[k - num_x] = line.pool.values[k];
        num_x += line.observed.is_x(line.pool.order[k], 0) ? 1U : 0U;
        num_x_[k] = static_cast<std::uint32_t>(num_x);
      }
      x_ = {std::span(x_values_).first(num_x)};
      y_ = {std::span(y_values_).first(n - num_x)};
      return;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t row = line.pool.order[k];
      (line.observed.is_x(row, 0) ? x_weighted_ : y_weighted_).add(line.pool.values[k], line.weights[row]);
      num_x_[k] = static_cast<std::uint32_t>(x_weighted_.values().size());
    }
    x_ = x_weighted_.function();
    y_ = y_weighted_.function();
  }
  Split(const Split&) = delete;  // the functions point into its vectors
  Split& operator=(const Split&) = delete;

  [[nodiscard]] const QuantileFunction& x() const { return x_; }
  [[nodiscard]] const QuantileFunction& y() const { return y_; }
  /// How many of the first k + 1 sorted rows belong to X.
  [[nodiscard]] std::size_t num_x(std::size_t k) const { return num_x_[k]; }

 private:
  std::vector<std::uint32_t> num_x_;
  std::vector<double> x_values_;
  std::vector<double> y_values_;
  WeightedQuantiles x_weighted_;
  WeightedQuantiles y_weighted_;
  QuantileFunction x_;
  QuantileFunction y_;
};

// The distribution function of a sample after a given number of its points.
class Distribution {
 public:
  explicit Distribution(const QuantileFunction& q)
      : cumulative_(q.cumulative), count_(static_cast<double>(q.values.size())) {}
  [[nodiscard]] double after(std::size_t points) const {
    if (cumulative_.empty()) return static_cast<double>(points) / count_;
    return points == 0 ? 0.0 : cumulative_[points - 1];
  }

 private:
  std::span<const double> cumulative_;
  double count_;
};

// The area between the two distribution functions by zone, and the signed area: the shift of the mean.
struct Areas {
  ZoneGaps zones;
  double mean_shift = 0.0;
};

Areas areas_between(const LabelledLine& line, const Split& samples) {
  const Distribution x(samples.x());
  const Distribution y(samples.y());
  const auto place_of = [&](auto found) { return static_cast<std::size_t>(found - line.levels.begin()); };
  const std::array<std::size_t, kNumZones + 1> ends = {0, place_of(std::ranges::lower_bound(line.levels, kLowerEnd)),
                                                       place_of(std::ranges::upper_bound(line.levels, kUpperBegin)),
                                                       line.levels.size()};
  Areas areas;
  for (std::size_t z = 0; z < kNumZones; ++z) {
    CompensatedSum area;
    for (std::size_t k = ends[z]; k < ends[z + 1]; ++k) {
      const std::size_t num_x = samples.num_x(k);
      const double gap = line.pool.values[k + 1] - line.pool.values[k];
      const double difference = (x.after(num_x) - y.after(k + 1 - num_x)) * gap;
      area.add(std::abs(difference));
      areas.mean_shift += difference;
    }
    const std::size_t count = ends[z + 1] - ends[z];
    areas.zones.observed[z] = area.value();
    if (count > 0) {
      areas.zones.expected[z] = line.null_factor * expected_gap(line.pool.values.subspan(ends[z], count + 1),
                                                                line.levels.subspan(ends[z], count));
    }
  }
  return areas;
}

std::optional<TwoValueShares> two_value_shares(const LabelledLine& line, const Split& samples) {
  const auto values = line.pool.values;
  const auto larger = std::ranges::upper_bound(values, values.front());
  if (larger == values.end() || *larger != values.back()) return std::nullopt;
  const auto below = static_cast<std::size_t>(larger - values.begin());
  const std::size_t num_x = samples.num_x(below - 1);
  return TwoValueShares{line.origin + line.unit * values.back(), 1.0 - Distribution(samples.x()).after(num_x),
                        1.0 - Distribution(samples.y()).after(below - num_x)};
}

// The weighted sum of term(k) over the sorted rows: four plain sums per block, blocks added with compensation.
double weighted_sum(const LabelledLine& line, const auto& term) {
  constexpr std::size_t kBlock = 256;
  const auto weighted = [&](std::size_t k) {
    return line.weights.empty() ? term(k) : line.weights[line.pool.order[k]] * term(k);
  };
  const std::size_t n = line.pool.num_rows();
  CompensatedSum total;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    std::array<double, 4> sums{};
    for (std::size_t k = begin; k < std::min(n, begin + kBlock); ++k) sums[k % 4] += weighted(k);
    total.add((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
  return total.value();
}

}  // namespace

Where where_of_zones(const std::array<double, 3>& observed, const std::array<double, 3>& expected) {
  return where_of({observed, expected});
}

double pooled_deviation(const LabelledLine& line) {
  const double total = line.weights.empty() ? static_cast<double>(line.pool.num_rows()) : sum(line.weights);
  const double mean = weighted_sum(line, [&](std::size_t k) { return line.pool.values[k]; }) / total;
  const double squares =
      weighted_sum(line, [&](std::size_t k) { return (line.pool.values[k] - mean) * (line.pool.values[k] - mean); });
  return std::sqrt(squares / total);
}

namespace {

// The reciprocal of the effective sample size of X or Y.
double inverse_size(const LabelBatch& observed, std::span<const double> weights, bool of_x) {
  double total = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < observed.num_rows(); ++i) {
    if (observed.is_x(i, 0) != of_x) continue;
    const double w = weights.empty() ? 1.0 : weights[i];
    total += w;
    squares += w * w;
  }
  return squares / (total * total);
}

}  // namespace

double null_gap_factor(const LabelBatch& observed, std::span<const double> weights) {
  return std::sqrt(2.0 / std::numbers::pi *
                   (inverse_size(observed, weights, true) + inverse_size(observed, weights, false)));
}

GapShape gap_shape(const LabelledLine& line) {
  const Split samples(line);
  const Areas areas = areas_between(line, samples);
  GapShape shape;
  shape.wasserstein =
      (areas.zones.observed[kLower] + areas.zones.observed[kCentre] + areas.zones.observed[kUpper]) * line.unit;
  shape.scale = pooled_deviation(line) * line.unit;
  shape.shift = (samples.y().at(0.5) - samples.x().at(0.5)) * line.unit;
  shape.mean_shift = areas.mean_shift * line.unit;
  shape.where = where_of(areas.zones);
  shape.shares = two_value_shares(line, samples);
  for (std::size_t k = 1; k <= kNumLevels; ++k) {
    const double level = static_cast<double>(k) / static_cast<double>(kNumLevels + 1);
    shape.profile.levels.push_back(level);
    shape.profile.difference.push_back((samples.y().at(level) - samples.x().at(level)) * line.unit);
  }
  return shape;
}

}  // namespace kqd
