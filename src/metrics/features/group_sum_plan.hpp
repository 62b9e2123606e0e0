#pragma once
#include <memory>
#include <span>

#include "kqd/core/plan.hpp"
#include "metrics/features/pooled_features.hpp"
#include "simd/label_sums.hpp"

namespace kqd {

/// A statistic that is a function of the sums of two groups.
class GroupStatistic {
 public:
  virtual ~GroupStatistic() = default;

  /// True when value() reads GroupSums::products.
  [[nodiscard]] virtual bool needs_products() const { return false; }
  /// True when the value is a root, whose square is the estimate.
  [[nodiscard]] virtual bool is_root() const { return false; }
  [[nodiscard]] virtual double value(const GroupSums& x, const GroupSums& y, const PooledFeatures& pooled) const = 0;
  /// Bound on the difference of two values whose sums differ by `rounding` of the sums of magnitudes they were added
  /// from.
  [[nodiscard]] virtual double slack(double value, double rounding, const PooledFeatures& pooled) const = 0;
  /// The spread of the pool in the units of the value; 0 when there is none to compare it with.
  [[nodiscard]] virtual double pooled_scale(const PooledFeatures& pooled) const = 0;
};

/// Evaluates statistics of sums of features: one product of the label matrix with the features
/// gives the sums of X for all permutations, those of Y are the total minus them. O(N F) per permutation.
class GroupSumPlan : public Plan {
 public:
  GroupSumPlan(PooledFeatures pooled, std::unique_ptr<const GroupStatistic> statistic);

  [[nodiscard]] std::size_t num_rows() const override { return pooled_.num_rows(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override { return kBatchesAtATime; }
  [[nodiscard]] double tie_slack(double value) const override;

  [[nodiscard]] double pooled_scale() const { return statistic_->pooled_scale(pooled_); }

 private:
  static constexpr std::size_t kBatchesAtATime = 8;

  void evaluate_some(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const;
  void add_up(const simd::RowGroupLabels& labels, std::size_t begin, std::size_t end, MatrixView<double> sums) const;
  [[nodiscard]] std::size_t rows_per_segment() const;

  PooledFeatures pooled_;
  std::unique_ptr<const GroupStatistic> statistic_;
};

/// The imbalance of the two sizes: the larger part of the total weight that one observed group has, over the smaller.
[[nodiscard]] double imbalance(const PooledFeatures& pooled);

}  // namespace kqd
