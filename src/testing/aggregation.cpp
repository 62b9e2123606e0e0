#include "testing/aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr double kLeastSkewness = 0.05;  // below it the cube root is the identity to four digits
// Between the sum of 1/p (the harmonic mean, which rewards agreement) and the smallest p only: the power study of
// docs/design/0005-adaptive-test.md lost least with it.
constexpr double kSoftExponent = 1.5;
constexpr double kMostSkewness = 4.0;
constexpr double kLargestScore = 38.0;  // its p-value is about the smallest number

// log of the upper tail of the standard normal distribution, for any score.
double log_upper_tail(double z) {
  if (z < 10.0) return std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
  // phi(z)/z (1 - 1/z^2 + 3/z^4 - 15/z^6), relative error < 105/z^8 [AS64, 26.2.12].
  const double r = 1.0 / (z * z);
  return -0.5 * z * z - std::log(z) - 0.5 * std::log(2.0 * std::numbers::pi) +
         std::log1p(-r * (1.0 - 3.0 * r * (1.0 - 5.0 * r)));
}

double log_sum_exp(std::span<const double> terms) {
  const double largest = *std::ranges::max_element(terms);
  if (!std::isfinite(largest)) return largest;
  double total = 0.0;
  for (const double t : terms) total += std::exp(t - largest);
  return largest + std::log(total);
}

// For each value of `of`: how many values of the ascending list `among` are at least as large.
std::vector<std::size_t> counts_above(std::span<const double> among, std::span<const double> of) {
  std::vector<std::size_t> counts(of.size());
  for (std::size_t k = 0; k < of.size(); ++k) {
    counts[k] = static_cast<std::size_t>(among.end() - std::ranges::lower_bound(among, of[k]));
  }
  return counts;
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

// log(w_r / p_r) with smooth p-values, joined over statistics by their maximum or by the log of their sum.
std::vector<double> smooth_min_p(MatrixView<const double> statistics, std::span<const double> weights, bool soft) {
  const std::size_t permutation_count = statistics.cols();
  const double exponent = soft ? kSoftExponent : 1.0;
  Matrix<double> terms(permutation_count, statistics.rows());
  std::vector<double> scores(permutation_count);
  for (std::size_t r = 0; r < statistics.rows(); ++r) {
    deskewed_scores(statistics.row(r), scores);
    for (std::size_t k = 0; k < permutation_count; ++k) {
      terms(k, r) = exponent * (std::log(weights[r]) - log_upper_tail(scores[k]));
    }
  }
  std::vector<double> aggregates(permutation_count);
  for (std::size_t k = 0; k < permutation_count; ++k) {
    aggregates[k] = soft ? log_sum_exp(terms.row(k)) / exponent : *std::ranges::max_element(terms.row(k));
  }
  return aggregates;
}

// max_r log(w_r / p_r), p by rank among `reference`, the values that define the ranks of every statistic.
std::vector<double> rank_min_p(MatrixView<const double> reference, MatrixView<const double> statistics,
                               std::span<const double> weights, bool reference_includes_own) {
  std::vector<double> aggregates(statistics.cols(), -std::numeric_limits<double>::infinity());
  const double extra = reference_includes_own ? 0.0 : 1.0;  // a value counts itself
  for (std::size_t r = 0; r < statistics.rows(); ++r) {
    const std::vector<std::size_t> above = counts_above(sorted(reference.row(r)), statistics.row(r));
    for (std::size_t k = 0; k < aggregates.size(); ++k) {
      const double p = (static_cast<double>(above[k]) + extra) / (static_cast<double>(reference.cols()) + extra);
      aggregates[k] = std::max(aggregates[k], std::log(weights[r] / p));
    }
  }
  return aggregates;
}

std::vector<double> two_layer(MatrixView<const double> statistics, std::span<const double> weights) {
  const std::size_t half = (statistics.cols() - 1) / 2;
  const auto ranks = statistics.column_range(1, half);
  const auto rest = statistics.column_range(1 + half, statistics.cols() - 1 - half);
  std::vector<double> aggregates = rank_min_p(ranks, statistics.column_range(0, 1), weights, false);
  const std::vector<double> others = rank_min_p(ranks, rest, weights, false);
  aggregates.insert(aggregates.end(), others.begin(), others.end());
  return aggregates;
}

std::vector<double> fuse(MatrixView<const double> statistics, std::span<const double> weights) {
  std::vector<double> aggregates(statistics.cols());
  std::vector<double> terms(statistics.rows());
  for (std::size_t k = 0; k < aggregates.size(); ++k) {
    for (std::size_t r = 0; r < terms.size(); ++r) terms[r] = std::log(weights[r]) + statistics(r, k);
    aggregates[k] = log_sum_exp(terms);
  }
  return aggregates;
}

}  // namespace

void merge_ties(std::span<double> row, double slack) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return row[k]; });
  double previous = -std::numeric_limits<double>::infinity();
  double shared = previous;
  for (const std::size_t k : order) {
    const bool tied = row[k] - previous <= slack;
    previous = row[k];
    if (!tied) shared = row[k];
    row[k] = shared;
  }
}

void deskewed_scores(std::span<const double> statistics, std::span<double> scores) {
  const std::vector<double> row = scaled_near_one(statistics);  // scores have no unit, and cubes must not overflow
  const auto others = static_cast<double>(row.size() - 1);
  // A value that stands out from equal ones has a p-value of one over their number and no scale; sqrt(2 log n) is the
  // score of the largest of n.
  const double lone_score = std::sqrt(2.0 * std::log(static_cast<double>(row.size())));
  const double centre = sum(row) / static_cast<double>(row.size());
  CompensatedSum squares;
  CompensatedSum cubes;
  for (const double t : row) {
    const double x = t - centre;
    squares.add(x * x);
    cubes.add(x * x * x);
  }
  for (std::size_t k = 0; k < row.size(); ++k) {
    // Moments of the other values: sums around the common centre minus the value's own term.
    const double x = row[k] - centre;
    const double mean = -x / others;
    const double second = std::max(0.0, squares.value() - x * x) / others;
    const double variance = second - mean * mean;
    // Sums that are mostly one square have its rounding error: a smaller variance of the others counts as 0.
    if (!(variance > std::max(1e-24 * second, 1e-15 * x * x / others))) {
      scores[k] = x == 0.0 ? 0.0 : std::copysign(lone_score, x);
      continue;
    }
    const double sd = std::sqrt(variance);
    const double third = (cubes.value() - x * x * x) / others - 3.0 * mean * second + 2.0 * mean * mean * mean;
    const double skewness = std::clamp(third / (variance * sd), kLeastSkewness, kMostSkewness);
    const double student = (x - mean) / sd;
    // Wilson-Hilferty for a gamma distribution of this skewness: its cube root is close to normal.
    const double normal = 6.0 / skewness * (std::cbrt(std::max(0.0, 1.0 + 0.5 * skewness * student)) - 1.0);
    scores[k] = std::clamp(normal + skewness / 6.0, -kLargestScore, kLargestScore);
  }
}

std::vector<double> aggregate(Aggregation rule, MatrixView<const double> statistics, std::span<const double> weights) {
  switch (rule) {
    case Aggregation::smooth_min_p:
      return smooth_min_p(statistics, weights, false);
    case Aggregation::soft_min_p:
      return smooth_min_p(statistics, weights, true);
    case Aggregation::min_p:
      return rank_min_p(statistics, statistics, weights, true);
    case Aggregation::fuse:
      return fuse(statistics, weights);
    case Aggregation::two_layer:
      return two_layer(statistics, weights);
  }
  return {};
}

std::vector<AggregatedStatistic> adjusted_statistics(MatrixView<const double> statistics) {
  const std::size_t permutation_count = statistics.cols();
  Matrix<double> scores(statistics.rows(), permutation_count);
  std::vector<AggregatedStatistic> results(statistics.rows());
  for (std::size_t r = 0; r < statistics.rows(); ++r) {
    const auto row = statistics.row(r);
    deskewed_scores(row, scores.row(r));
    const auto exceed = std::ranges::count_if(row, [&](double t) { return t >= row[0]; });
    results[r].value = row[0];
    results[r].score = scores(r, 0);
    results[r].pvalue = static_cast<double>(exceed) / static_cast<double>(permutation_count);
  }
  std::vector<std::size_t> order(statistics.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t r) { return scores(r, 0); });  // least extreme first
  // Step down: the q-th most extreme statistic is compared with the maximum over itself and all less extreme ones.
  std::vector<double> largest(permutation_count, -std::numeric_limits<double>::infinity());
  for (const std::size_t r : order) {
    for (std::size_t k = 0; k < permutation_count; ++k) largest[k] = std::max(largest[k], scores(r, k));
    const auto exceed = std::ranges::count_if(largest, [&](double z) { return z >= scores(r, 0); });
    results[r].adjusted_pvalue = static_cast<double>(exceed) / static_cast<double>(permutation_count);
  }
  double floor = 0.0;  // adjusted p-values do not decrease from the most extreme statistic on
  for (auto r = order.rbegin(); r != order.rend(); ++r) {
    floor = std::max(floor, results[*r].adjusted_pvalue);
    results[*r].adjusted_pvalue = floor;
  }
  return results;
}

}  // namespace kqd
