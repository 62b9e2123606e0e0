#include "metrics/classifier/forward_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kKept = 64;
constexpr double kStep = 0.2;
constexpr std::size_t kMostSteps = 200;
constexpr std::size_t kFewestSteps = 3;
constexpr double kStop = 0.7;
constexpr std::size_t kRowsPerTile = 64;
constexpr std::size_t kRowsPerTask = 1024;
constexpr std::size_t kMostTasks = 32;
constexpr double kFlatFeature = 1e-10;  // a variance this small next to the mean square is rounding

// Ends of tasks depend on the number of rows only.
std::size_t rows_of_task(std::size_t num_rows) {
  const std::size_t share = (num_rows + kMostTasks - 1) / kMostTasks;
  return std::max(kRowsPerTask, (share + kRowsPerTile - 1) / kRowsPerTile * kRowsPerTile);
}

// Sums over some rows.
struct Moments {
  explicit Moments(std::size_t num_features = 0) : sum(num_features), square(num_features), of_x(num_features) {}

  void add(const Moments& other) {
    rows += other.rows;
    rows_x += other.rows_x;
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += other.sum[k];
      square[k] += other.square[k];
      of_x[k] += other.of_x[k];
    }
  }
  void add_row(std::span<const double> features, bool is_x) {
    rows += 1.0;
    for (std::size_t k = 0; k < sum.size(); ++k) {
      sum[k] += features[k];
      square[k] += features[k] * features[k];
    }
    if (!is_x) return;
    rows_x += 1.0;
    for (std::size_t k = 0; k < sum.size(); ++k) of_x[k] += features[k];
  }

  double rows = 0.0;
  double rows_x = 0.0;
  std::vector<double> sum;
  std::vector<double> square;
  std::vector<double> of_x;
};

Moments moments_of(const FeatureDictionary& dictionary, std::span<const char> is_x, std::size_t begin, std::size_t end,
                   ThreadCount threads) {
  std::vector<std::uint32_t> all(dictionary.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::size_t step = rows_of_task(end - begin);
  std::vector<Moments> parts((end - begin + step - 1) / step, Moments(all.size()));
  parallel_for_blocks(end - begin, step, threads, [&](std::size_t first, std::size_t last) {
    Matrix<double> tile(kRowsPerTile, all.size());
    for (std::size_t row = begin + first; row < begin + last; row += kRowsPerTile) {
      stop_point();
      const auto values = tile.view().row_range(0, std::min(kRowsPerTile, begin + last - row));
      dictionary.evaluate(row, all, values);
      for (std::size_t i = 0; i < values.rows(); ++i) parts[first / step].add_row(values.row(i), is_x[row + i] != 0);
    }
  });
  Moments total(all.size());
  for (const Moments& part : parts) total.add(part);
  return total;
}

// The score of a row: the sum of coefficient (feature - centre).
struct Learner {
  std::vector<std::uint32_t> features;
  std::vector<double> centre;
  std::vector<double> unit;         // 1 / standard deviation
  std::vector<double> correlation;  // with the labels
  std::vector<double> coefficient;  // of the feature in standard deviations
};

// The features with the largest correlations, in order of their numbers.
Learner screen(const Moments& m) {
  const double share = m.rows_x / m.rows;
  const double label_sd = std::sqrt(share * (1.0 - share));
  Learner all;
  for (std::size_t k = 0; k < m.sum.size(); ++k) {
    const double mean = m.sum[k] / m.rows;
    const double mean_square = m.square[k] / m.rows;
    const double variance = mean_square - mean * mean;
    const bool varies = variance > kFlatFeature * mean_square;
    const double unit = varies ? 1.0 / std::sqrt(variance) : 0.0;
    all.centre.push_back(mean);
    all.unit.push_back(unit);
    all.correlation.push_back(varies ? (m.of_x[k] / m.rows - share * mean) * unit / label_sd : 0.0);
  }
  std::vector<std::uint32_t> order(m.sum.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(all.correlation[a]) > std::abs(all.correlation[b]);
  });
  order.resize(std::min(order.size(), kKept));
  std::ranges::sort(order);
  Learner kept;
  kept.features = order;
  for (const std::uint32_t k : order) {
    kept.centre.push_back(all.centre[k]);
    kept.unit.push_back(all.unit[k]);
    kept.correlation.push_back(all.correlation[k]);
  }
  return kept;
}

// Features of rows [begin, begin + tile.rows()), in standard deviations from their means.
void standardised(const FeatureDictionary& dictionary, const Learner& learner, std::size_t begin,
                  MatrixView<double> tile) {
  dictionary.evaluate(begin, learner.features, tile);
  for (std::size_t i = 0; i < tile.rows(); ++i) {
    for (std::size_t k = 0; k < tile.cols(); ++k) tile(i, k) = (tile(i, k) - learner.centre[k]) * learner.unit[k];
  }
}

// Correlations of the learner's features on rows [0, end).
Matrix<double> correlations(const FeatureDictionary& dictionary, const Learner& learner, std::size_t end,
                            ThreadCount threads) {
  const std::size_t count = learner.features.size();
  const std::size_t step = rows_of_task(end);
  std::vector<Matrix<double>> parts((end + step - 1) / step);
  parallel_for_blocks(end, step, threads, [&](std::size_t first, std::size_t last) {
    Matrix<double>& own = parts[first / step] = Matrix<double>(count, count, 0.0);
    Matrix<double> tile(kRowsPerTile, count);
    for (std::size_t row = first; row < last; row += kRowsPerTile) {
      stop_point();
      const auto values = tile.view().row_range(0, std::min(kRowsPerTile, last - row));
      standardised(dictionary, learner, row, values);
      simd::multiply(values, simd::Op::transpose, values, simd::Op::none, own, simd::Into::add);
    }
  });
  Matrix<double> total(count, count, 0.0);
  for (const Matrix<double>& part : parts) {
    for (std::size_t k = 0; k < part.values().size(); ++k) total.values()[k] += part.values()[k];
  }
  for (double& v : total.values()) v /= static_cast<double>(end);
  return total;
}

void boost(Learner& learner, const Matrix<double>& correlations, double stop) {
  learner.coefficient.assign(learner.features.size(), 0.0);
  std::vector<double> residual = learner.correlation;
  for (std::size_t step = 0; step < kMostSteps; ++step) {
    const auto best = std::ranges::max_element(residual, {}, [](double correlation) { return std::abs(correlation); });
    if (step >= kFewestSteps && std::abs(*best) < stop) return;
    const auto k = static_cast<std::size_t>(best - residual.begin());
    const double change = kStep * *best;
    learner.coefficient[k] += change;
    for (std::size_t j = 0; j < residual.size(); ++j) residual[j] -= change * correlations(k, j);
  }
}

void keep_used(Learner& learner) {
  Learner used;
  for (std::size_t k = 0; k < learner.features.size(); ++k) {
    if (learner.coefficient[k] == 0.0) continue;
    used.features.push_back(learner.features[k]);
    used.centre.push_back(learner.centre[k]);
    used.unit.push_back(learner.unit[k]);
    used.coefficient.push_back(learner.coefficient[k]);
  }
  learner = std::move(used);
}

Learner fit(const FeatureDictionary& dictionary, const Moments& moments, std::size_t end, ThreadCount threads) {
  if (moments.rows_x == 0.0 || moments.rows_x == moments.rows) return {};
  Learner learner = screen(moments);
  const double stop = kStop * std::sqrt(2.0 * std::log(static_cast<double>(dictionary.size())) / moments.rows);
  boost(learner, correlations(dictionary, learner, end, threads), stop);
  keep_used(learner);
  return learner;
}

void score(const FeatureDictionary& dictionary, const Learner& learner, std::size_t begin, std::span<double> scores,
           ThreadCount threads) {
  std::ranges::fill(scores, 0.0);
  if (learner.features.empty()) return;
  parallel_for_blocks(scores.size(), kRowsPerTask, threads, [&](std::size_t first, std::size_t last) {
    Matrix<double> tile(last - first, learner.features.size());
    standardised(dictionary, learner, begin + first, tile.view());
    simd::multiply(tile, simd::Op::none, learner.coefficient, scores.subspan(first, last - first));
  });
}

}  // namespace

ForwardFit fit_forward(const FeatureDictionary& dictionary, std::span<const char> is_x,
                       std::span<const std::size_t> cuts, ThreadCount threads) {
  ForwardFit result;
  result.scores.resize(cuts.back() - cuts[1]);
  Moments earlier(dictionary.size());
  for (std::size_t part = 1; part + 1 < cuts.size(); ++part) {
    earlier.add(moments_of(dictionary, is_x, cuts[part - 1], cuts[part], threads));
    const Learner learner = fit(dictionary, earlier, cuts[part], threads);
    result.num_features = learner.features.size();
    const std::span scores(result.scores);
    score(dictionary, learner, cuts[part], scores.subspan(cuts[part] - cuts[1], cuts[part + 1] - cuts[part]), threads);
  }
  return result;
}

}  // namespace kqd
