#include "metrics/classifier/auc_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/executor.hpp"
#include "kqd/core/matrix.hpp"
#include "metrics/batches.hpp"
#include "quantiles/sort.hpp"
#include "simd/label_sums.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRankedRowsPerTile = 256;
constexpr std::size_t kRankedRowsPerTask = 64 * kRankedRowsPerTile;

// Pairs (x, y) of a part with x above y: U of Mann and Whitney.
double pairs_above(double rank_sum, double num_x) {
  return rank_sum - 0.5 * num_x * (num_x + 1.0);
}

}  // namespace

AucPlan::AucPlan(std::span<const double> scores, std::vector<std::size_t> ends, bool constant)
    : ranks_(scores.size()), ends_(std::move(ends)), constant_(constant) {
  std::vector<std::uint32_t> order;
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    const std::size_t begin = begin_of(part);
    order.resize(ends_[part] - begin);
    if (order.empty()) continue;
    argsort(scores.subspan(begin, order.size()), order);
    for (std::size_t k = 0; k < order.size(); ++k) ranks_[begin + order[k]] = static_cast<double>(k + 1);
  }
}

// `sums`: for each part the ranks of its X and their number. All are whole numbers below 2^53: exact in any order.
double AucPlan::value_of(std::span<const double> sums) const {
  double above = 0.0;
  double pairs = 0.0;
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    const double num_x = sums[2 * part + 1];
    above += pairs_above(sums[2 * part], num_x);
    pairs += num_x * (static_cast<double>(ends_[part] - begin_of(part)) - num_x);
  }
  return constant_ || pairs == 0.0 ? 0.5 : above / pairs;
}

void AucPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  evaluate_in_parts(batches, values, kBatchesAtATime,
                    [&](auto some, auto its_values) { evaluate_some(some, its_values, threads); });
}

void AucPlan::evaluate_some(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  const std::size_t columns = 2 * ends_.size();
  const simd::RowGroupLabels labels(batches, values.size());
  const std::size_t num_tasks = (num_rows() + kRankedRowsPerTask - 1) / kRankedRowsPerTask;
  std::vector<Matrix<double>> sums(num_tasks);
  parallel_for_blocks(num_rows(), kRankedRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double>& own = sums[begin / kRankedRowsPerTask] = Matrix<double>(values.size(), columns, 0.0);
    Matrix<double> tile(kRankedRowsPerTile, columns);
    for (std::size_t first = begin; first < end; first += kRankedRowsPerTile) {
      stop_point();
      const auto rows = tile.view().row_range(0, std::min(kRankedRowsPerTile, end - first));
      std::ranges::fill(tile.values(), 0.0);
      auto part = static_cast<std::size_t>(std::ranges::upper_bound(ends_, first) - ends_.begin());
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        while (first + i >= ends_[part]) ++part;
        rows(i, 2 * part) = ranks_[first + i];
        rows(i, 2 * part + 1) = 1.0;
      }
      simd::add_labelled_rows(rows, labels, first, own);
    }
  });
  std::vector<double> total(columns);
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::ranges::fill(total, 0.0);
    for (const Matrix<double>& own : sums) {
      for (std::size_t c = 0; c < columns; ++c) total[c] += own(k, c);
    }
    values[k] = value_of(total);
  }
}

double AucPlan::value(std::span<const char> is_x) const {
  std::vector<double> sums(2 * ends_.size());
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    for (std::size_t i = begin_of(part); i < ends_[part]; ++i) {
      if (is_x[i] == 0) continue;
      sums[2 * part] += ranks_[i];
      sums[2 * part + 1] += 1.0;
    }
  }
  return value_of(sums);
}

// U of a part has variance nx ny (n + 1) / 12, and parts are independent.
double AucPlan::null_deviation(std::span<const char> is_x) const {
  double variance = 0.0;
  double pairs = 0.0;
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    const std::size_t begin = begin_of(part);
    const auto n = static_cast<double>(ends_[part] - begin);
    const auto num_x = static_cast<double>(std::ranges::count(is_x.subspan(begin, ends_[part] - begin), 1));
    pairs += num_x * (n - num_x);
    variance += num_x * (n - num_x) * (n + 1.0) / 12.0;
  }
  return pairs == 0.0 ? 0.0 : std::sqrt(variance) / pairs;
}

double AucPlan::standard_error(std::span<const char> is_x) const {
  double variance = 0.0;  // of the number of pairs (x, y) with x above y
  double pairs = 0.0;
  std::vector<std::size_t> by_rank;
  for (std::size_t part = 0; part < ends_.size(); ++part) {
    const std::size_t begin = begin_of(part);
    by_rank.resize(ends_[part] - begin);
    for (std::size_t i = begin; i < ends_[part]; ++i) by_rank[static_cast<std::size_t>(ranks_[i]) - 1] = i;
    const auto num_x = static_cast<double>(std::ranges::count(is_x.subspan(begin, by_rank.size()), 1));
    const double num_y = static_cast<double>(by_rank.size()) - num_x;
    if (num_x * num_y == 0.0) continue;
    if (num_x == 1.0 || num_y == 1.0) return std::numeric_limits<double>::quiet_NaN();
    // The share of Y below each x, and of X above each y: the two components of a U-statistic.
    std::array<double, 2> squares = {};
    std::array<double, 2> sums = {};
    double x_below = 0.0;
    double y_below = 0.0;
    for (const std::size_t i : by_rank) {
      const bool of_x = is_x[i] != 0;
      const double share = of_x ? y_below / num_y : 1.0 - x_below / num_x;
      sums[of_x ? 0 : 1] += share;
      squares[of_x ? 0 : 1] += share * share;
      (of_x ? x_below : y_below) += 1.0;
    }
    const auto scaled = [](double square, double sum, double n) {
      return std::max(0.0, square - sum * sum / n) / (n - 1.0) / n;
    };
    const double own = scaled(squares[0], sums[0], num_x) + scaled(squares[1], sums[1], num_y);
    variance += num_x * num_y * num_x * num_y * own;
    pairs += num_x * num_y;
  }
  return pairs == 0.0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(variance) / pairs;
}

}  // namespace kqd
