#include "metrics/features/group_sum_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "metrics/batches.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

constexpr std::size_t kSmallestSegment = 64 * kFeatureRows;
constexpr std::size_t kMostSegments = 16;

}  // namespace

GroupSumPlan::GroupSumPlan(PooledFeatures pooled, std::unique_ptr<const GroupStatistic> statistic)
    : pooled_(std::move(pooled)), statistic_(std::move(statistic)) {}

// Long pools are summed in a few segments, for several threads; their ends depend on the number of rows only.
std::size_t GroupSumPlan::rows_per_segment() const {
  const std::size_t share = (num_rows() + kMostSegments - 1) / kMostSegments;
  return std::max(kSmallestSegment, (share + kFeatureRows - 1) / kFeatureRows * kFeatureRows);
}

void GroupSumPlan::add_up(const simd::RowGroupLabels& labels, std::size_t begin, std::size_t end,
                          MatrixView<double> sums) const {
  Matrix<double> terms(kFeatureRows, pooled_.num_columns());
  for (std::size_t first = begin; first < end; first += kFeatureRows) {
    stop_point();
    const auto own = terms.view().row_range(0, std::min(kFeatureRows, end - first));
    pooled_.copy_terms(first, own);
    simd::add_labelled_rows(own, labels, first, sums);
  }
}

void GroupSumPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  evaluate_in_parts(batches, values, kBatchesAtATime,
                    [&](auto some, auto its_values) { evaluate_some(some, its_values, threads); });
}

void GroupSumPlan::evaluate_some(std::span<const LabelBatch> batches, std::span<double> values,
                                 ThreadCount threads) const {
  const std::size_t step = rows_per_segment();
  const std::size_t num_segments = (num_rows() + step - 1) / step;
  const std::size_t columns = pooled_.num_columns();
  const simd::RowGroupLabels labels(batches, values.size());
  Matrix<double> sums(num_segments * values.size(), columns, 0.0);  // segment by segment, within it by permutation
  parallel_for_blocks(num_rows(), step, threads, [&](std::size_t begin, std::size_t end) {
    add_up(labels, begin, end, sums.view().row_range(begin / step * values.size(), values.size()));
  });
  parallel_for_blocks(values.size(), LabelBatch::kCapacity, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> x(columns);
    std::vector<double> y(columns);
    for (std::size_t k = begin; k < end; ++k) {
      std::ranges::fill(x, 0.0);
      for (std::size_t segment = 0; segment < num_segments; ++segment) {
        const auto part = sums.row(segment * values.size() + k);
        for (std::size_t c = 0; c < columns; ++c) x[c] += part[c];
      }
      std::ranges::transform(pooled_.totals(), x, y.begin(), std::minus<>());
      const GroupSums of_x = pooled_.as_groups(x);
      const GroupSums of_y = pooled_.as_groups(y);
      if (pooled_.weighted()) require_weight_of_both(of_x.weight, of_y.weight);
      values[k] = statistic_->value(of_x, of_y, pooled_);
    }
  });
}

double GroupSumPlan::tie_slack(double value) const {
  // A block of rows is one inner product per sum, blocks are added one after the other, then segments [Hig02,
  // sec. 3.1].
  const std::size_t additions =
      kFeatureRows + rows_per_segment() / kFeatureRows + kMostSegments + 8 + pooled_.num_additions();
  return statistic_->slack(value, static_cast<double>(additions) * std::numeric_limits<double>::epsilon(), pooled_);
}

double imbalance(const PooledFeatures& pooled) {
  const double x = pooled.observed_x().weight;
  const double y = pooled.observed_y().weight;
  return (x + y) / std::min(x, y);
}

}  // namespace kqd
