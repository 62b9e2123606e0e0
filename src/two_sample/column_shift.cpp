#include "two_sample/column_shift.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "two_sample/column_scores.hpp"

namespace kqd {
namespace {

constexpr double kLargestShift = 8.0;
constexpr int kHalvings = 30;
constexpr std::size_t kMostValues = 2048;  // from which the effect is computed

double shifted_rank(double rank, double shift) {
  if (rank <= 0.0 || rank >= 1.0) return rank;
  return boost::math::cdf(boost::math::normal{}, normal_quantile(rank) + shift);
}

std::vector<double> masses_of(std::span<const double> ranks, double shift) {
  std::vector<double> masses;
  double below = 0.0;
  for (const double rank : ranks) {
    const double up_to = shifted_rank(rank, -shift);
    masses.push_back(up_to - below);
    below = up_to;
  }
  return masses;
}

// The difference of the mean scores between the column and the shifted column.
double effect_of_shift(std::span<const double> values, std::span<const double> ranks, double shift) {
  const std::vector<double> before = masses_of(ranks, 0.0);
  const std::vector<double> after = masses_of(ranks, shift);
  const ColumnScores scores(values, before, values, after);
  double difference = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) difference += (after[k] - before[k]) * scores(values[k])[0];
  return difference;
}

}  // namespace

std::optional<ColumnShift> ColumnShift::of(std::span<const double> column, double effect) {
  ColumnShift found;
  std::vector<double> sorted(column.begin(), column.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) continue;
    found.values_.push_back(sorted[i]);
    found.ranks_.push_back(static_cast<double>(i + 1) / static_cast<double>(sorted.size()));
  }
  if (found.values_.size() < 2) return std::nullopt;
  // Of many values every k-th, with the masses of those before it.
  std::vector<double> values;
  std::vector<double> ranks;
  const std::size_t step = 1 + (found.values_.size() - 1) / kMostValues;
  for (std::size_t i = (found.values_.size() - 1) % step; i < found.values_.size(); i += step) {
    values.push_back(found.values_[i]);
    ranks.push_back(found.ranks_[i]);
  }
  double low = 0.0;
  double high = kLargestShift;
  if (effect_of_shift(values, ranks, high) < effect) return std::nullopt;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (effect_of_shift(values, ranks, middle) < effect ? low : high) = middle;
  }
  found.shift_ = high;
  return found;
}

double ColumnShift::operator()(double value, RandomStream& stream) const {
  const auto place = static_cast<std::size_t>(std::ranges::lower_bound(values_, value) - values_.begin());
  const double below = place == 0 ? 0.0 : ranks_[place - 1];
  const double rank = shifted_rank(below + stream.uniform() * (ranks_[place] - below), shift_);
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(ranks_, rank) - ranks_.begin());
  return values_[std::min(above, values_.size() - 1)];
}

}  // namespace kqd
