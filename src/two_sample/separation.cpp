#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "metrics/classifier/auc_plan.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFolds = 2;
// Rows of one sample that a rule is applied to, in each half.
constexpr std::size_t kScoredRows = 10'000;

// Weights of all functions, of one aspect after the other.
using Weights = std::vector<std::vector<double>>;

struct Evidence {
  double difference = 0.0;  // of the means, X minus Y
  double error = 0.0;       // its standard error
};

// Of one function, from the groups outside a fold.
Evidence evidence(const SizeUnits& units, std::span<const char> fold_of, std::size_t fold, const Matrix<double>& sums,
                  std::size_t function) {
  Evidence found;
  for (const bool x : {true, false}) {
    double total = 0.0;
    double sum = 0.0;
    double count = 0.0;
    const auto takes_part = [&](std::size_t u) {
      return (units.is_x[u] != 0) == x && fold_of[u] != static_cast<char>(fold);
    };
    for (std::size_t u = 0; u < sums.rows(); ++u) {
      if (!takes_part(u)) continue;
      total += units.weights[u];
      sum += sums(u, function);
      count += 1.0;
    }
    if (!(count > 1.0)) return {};
    const double mean = sum / total;
    double squares = 0.0;
    for (std::size_t u = 0; u < sums.rows(); ++u) {
      if (takes_part(u)) squares += std::pow(sums(u, function) - units.weights[u] * mean, 2);
    }
    found.difference += x ? mean : -mean;
    found.error += squares / (total * total) * count / (count - 1.0);
  }
  found.error = std::sqrt(found.error);
  return found;
}

// The linear rule for normal functions of variance 1: each counts by its difference, those within the noise of as many
// functions do not count at all. So functions that do not differ take nothing from those that do. Where nothing stands
// out all functions of the first aspect count, for differences that are spread over many columns.
Weights fit(const SizeUnits& units, std::span<const char> fold_of, std::size_t fold, std::span<const UnitSums> sums) {
  std::size_t count = 0;
  for (const UnitSums& aspect : sums) count += aspect.sums.cols();
  const double threshold = std::sqrt(2.0 * std::log(static_cast<double>(std::max<std::size_t>(count, 3))));
  Weights weights;
  std::vector<double> plain;
  bool stands_out = false;
  for (const UnitSums& aspect : sums) {
    std::vector<double>& own = weights.emplace_back(aspect.sums.cols(), 0.0);
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Evidence found = evidence(units, fold_of, fold, aspect.sums, k);
      if (weights.size() == 1) plain.push_back(found.difference);
      if (!(std::abs(found.difference) > threshold * found.error)) continue;
      own[k] = found.difference;
      stands_out = true;
    }
  }
  if (!stands_out) weights.front() = std::move(plain);
  return weights;
}

struct WeightedPair {
  std::size_t first;
  std::size_t second;
  double weight;
};

double score_of(std::span<const double> row, std::span<const ColumnScores> scores, const Weights& weights,
                std::span<const char> needed, std::span<const WeightedPair> pairs, std::vector<double>& location) {
  constexpr std::size_t kShapes = ColumnScores::kOrders - 1;
  double total = 0.0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (needed[j] == 0) continue;
    const ColumnScores::Scores value = scores[j](row[j]);
    location[j] = value[0];
    total += weights[0][j] * value[0];
    for (std::size_t order = 1; order < ColumnScores::kOrders; ++order) {
      total += weights[1][j * kShapes + order - 1] * value[order];
    }
  }
  for (const WeightedPair& pair : pairs) total += pair.weight * location[pair.first] * location[pair.second];
  return total;
}

std::vector<WeightedPair> pairs_of(const Weights& weights, std::size_t dim) {
  std::vector<WeightedPair> pairs;
  if (weights.size() < 3) return pairs;
  std::size_t pair = 0;
  for (std::size_t j = 0; j < dim; ++j) {
    for (std::size_t k = j + 1; k < dim; ++k, ++pair) {
      if (weights[2][pair] != 0.0) pairs.push_back({j, k, weights[2][pair]});
    }
  }
  return pairs;
}

// Columns that the rule looks at.
std::vector<char> needed_columns(const Weights& weights, std::span<const WeightedPair> pairs, std::size_t dim) {
  constexpr std::size_t kShapes = ColumnScores::kOrders - 1;
  std::vector<char> needed(dim, 0);
  for (std::size_t j = 0; j < dim; ++j) {
    bool any = weights[0][j] != 0.0;
    for (std::size_t s = 0; s < kShapes; ++s) any = any || weights[1][j * kShapes + s] != 0.0;
    needed[j] = any ? 1 : 0;
  }
  for (const WeightedPair& pair : pairs) needed[pair.first] = needed[pair.second] = 1;
  return needed;
}

}  // namespace

void measure_separation(const TestPool& pool, const RowGroups& groups, std::span<const ColumnScores> scores,
                        const SizeUnits& units, std::span<const UnitSums> sums, ThreadCount threads,
                        DifferenceSize& size) {
  // Groups of each sample take turns, in the random order that they have.
  std::vector<char> fold_of(units.is_x.size());
  std::array<std::size_t, 2> seen = {};
  for (std::size_t u = 0; u < fold_of.size(); ++u) {
    fold_of[u] = static_cast<char>(seen[units.is_x[u] != 0 ? 0 : 1]++ % kFolds);
  }
  std::vector<double> values;
  std::vector<char> is_x;
  std::vector<std::size_t> ends;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    const Weights weights = fit(units, fold_of, fold, sums);
    const std::vector<WeightedPair> pairs = pairs_of(weights, scores.size());
    const std::vector<char> needed = needed_columns(weights, pairs, scores.size());
    std::array<std::size_t, 2> taken = {};
    std::vector<std::size_t> rows;
    for (std::size_t u = 0; u < fold_of.size(); ++u) {
      if (fold_of[u] != static_cast<char>(fold)) continue;
      for (const std::size_t row : groups.rows_of(u)) {
        if (taken[units.is_x[u] != 0 ? 0 : 1]++ < kScoredRows) rows.push_back(row);
      }
    }
    const std::size_t first = values.size();
    values.resize(first + rows.size());
    const Pool points{pool.x.points, pool.y.points, rows};
    constexpr std::size_t kRowsAtATime = 256;
    parallel_for_blocks(rows.size(), kRowsAtATime, threads, [&](std::size_t begin, std::size_t end) {
      std::vector<double> location(scores.size());
      for (std::size_t i = begin; i < end; ++i) {
        values[first + i] = score_of(points.row(i), scores, weights, needed, pairs, location);
      }
    });
    for (const std::size_t row : rows) is_x.push_back(row < pool.x.size() ? 1 : 0);
    ends.push_back(values.size());
  }
  const AucPlan plan(values, ends, false);
  const double area = plan.value(is_x);
  size.separation = area;
  const double error = plan.standard_error(is_x);
  const double z = boost::math::quantile(boost::math::normal(), 0.5 * (1.0 + size.confidence));
  // On the scale of the logit, so that the ends stay between 0 and 1.
  const double inside = std::clamp(area, 1e-6, 1.0 - 1e-6);
  const double logit = std::log(inside / (1.0 - inside));
  const double reach = std::isfinite(error) ? z * error / (inside * (1.0 - inside)) : 50.0;
  const auto back = [](double t) { return 1.0 / (1.0 + std::exp(-t)); };
  size.separation_interval = {std::min(area, back(logit - reach)), std::max(area, back(logit + reach))};
}

}  // namespace kqd
