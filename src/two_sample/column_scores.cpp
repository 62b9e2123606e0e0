#include "two_sample/column_scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"
#include "simd/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostKnots = 512;
// A function of a rare value is stretched to variance 1 only up to here: a level with less than about 1/1000 of the
// rows counts less.
constexpr double kSmallestSpread = 0.1;
// The part of a polynomial that the lower ones leave over must be this large to be more than rounding or a rare value.
constexpr double kSmallestRemainder = 0.01;

struct WeightedValue {
  double value;
  double weight;
};

// Sorted, weights of sum 1/2.
std::vector<WeightedValue> sorted_half(std::span<const double> values, std::span<const double> weights) {
  std::vector<WeightedValue> list(values.size());
  const double total =
      weights.empty() ? static_cast<double>(values.size()) : std::accumulate(weights.begin(), weights.end(), 0.0);
  if (weights.empty()) {
    std::vector<double> sorted(values.begin(), values.end());
    simd::sort_ascending(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i) list[i] = {sorted[i], 0.5 / total};
    return list;
  }
  for (std::size_t i = 0; i < values.size(); ++i) list[i] = {values[i], 0.5 * weights[i] / total};
  std::ranges::sort(list, {}, [](const WeightedValue& v) { return std::pair(v.value, v.weight); });
  return list;
}

// Distinct values with their pooled mass.
std::vector<WeightedValue> distinct(const std::vector<WeightedValue>& x, const std::vector<WeightedValue>& y) {
  std::vector<WeightedValue> list;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() || j < y.size()) {
    const double value = j == y.size() || (i < x.size() && x[i].value <= y[j].value) ? x[i].value : y[j].value;
    double weight = 0.0;
    for (; i < x.size() && x[i].value == value; ++i) weight += x[i].weight;
    for (; j < y.size() && y[j].value == value; ++j) weight += y[j].weight;
    list.push_back({value, weight});
  }
  return list;
}

}  // namespace

ColumnScores::ColumnScores(std::span<const double> x, std::span<const double> x_weights, std::span<const double> y,
                           std::span<const double> y_weights) {
  const std::vector<WeightedValue> values = distinct(sorted_half(x, x_weights), sorted_half(y, y_weights));
  // Knots are values at even ranks, and the neighbours of values with much mass.
  std::vector<double> masses;
  std::vector<double> normal;
  double below = 0.0;
  double taken = -1.0;  // rank of the last knot
  double mass = 0.0;    // since then
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double middle = below + 0.5 * values[i].weight;
    const bool heavy = values[i].weight * kMostKnots >= 1.0 || (i > 0 && values[i - 1].weight * kMostKnots >= 1.0) ||
                       (i + 1 < values.size() && values[i + 1].weight * kMostKnots >= 1.0);
    mass += values[i].weight;
    below += values[i].weight;
    const bool last = i + 1 == values.size();
    if (values.size() > kMostKnots && !heavy && !last && (middle - taken) * kMostKnots < 1.0) continue;
    knots_.push_back(values[i].value);
    masses.push_back(mass);
    // Half a row of the pool at least is beyond every value.
    const double least = 0.25 / static_cast<double>(x.size() + y.size());
    normal.push_back(normal_quantile(std::clamp(middle, least, 1.0 - least)));
    taken = middle;
    mass = 0.0;
  }
  scores_.assign(knots_.size(), Scores{});
  if (knots_.size() < 2) return;
  // Gram-Schmidt over 1, z, z^2, z^3, z^4 in the pooled distribution.
  std::vector<double> power(knots_.size(), 1.0);
  for (std::size_t order = 0; order < kOrders; ++order) {
    double size = 0.0;
    double mean = 0.0;
    for (std::size_t k = 0; k < knots_.size(); ++k) {
      power[k] *= normal[k];
      mean += masses[k] * power[k];
    }
    std::vector<double> left(knots_.size());
    for (std::size_t k = 0; k < knots_.size(); ++k) {
      left[k] = power[k] - mean;
      size += masses[k] * left[k] * left[k];
    }
    for (std::size_t lower = 0; lower < order; ++lower) {
      if (!present_[lower]) continue;
      double inner = 0.0;
      double square = 0.0;
      for (std::size_t k = 0; k < knots_.size(); ++k) {
        inner += masses[k] * left[k] * scores_[k][lower];
        square += masses[k] * scores_[k][lower] * scores_[k][lower];
      }
      for (std::size_t k = 0; k < knots_.size(); ++k) left[k] -= inner / square * scores_[k][lower];
    }
    double rest = 0.0;
    for (std::size_t k = 0; k < knots_.size(); ++k) rest += masses[k] * left[k] * left[k];
    if (!(rest > (order == 0 ? 0.0 : kSmallestRemainder * size))) continue;
    const double spread = std::max(std::sqrt(rest), order == 0 ? kSmallestSpread : 0.0);
    for (std::size_t k = 0; k < knots_.size(); ++k) scores_[k][order] = left[k] / spread;
    present_[order] = true;
  }
}

ColumnScores::Scores ColumnScores::operator()(double value) const {
  if (value <= knots_.front()) return scores_.front();
  if (value >= knots_.back()) return scores_.back();
  const auto above = static_cast<std::size_t>(std::ranges::upper_bound(knots_, value) - knots_.begin());
  const double low = knots_[above - 1];
  const double share = (value - low) / (knots_[above] - low);
  Scores result;
  for (std::size_t order = 0; order < kOrders; ++order) {
    result[order] = scores_[above - 1][order] + share * (scores_[above][order] - scores_[above - 1][order]);
  }
  return result;
}

}  // namespace kqd
