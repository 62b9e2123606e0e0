#pragma once
#include <memory>
#include <vector>

#include "kqd/directions/directions.hpp"
#include "metrics/quantile/kqd_plan.hpp"

namespace kqd {

/// A KqdPlan whose sorted projections do not fit into memory all at once: the first directions are kept, the others are
/// projected, sorted, evaluated and forgotten a few at a time, once per call of evaluate(). Same values as KqdPlan.
class StreamedKqdPlan : public DirectionalPlan {
 public:
  /// At most `max_bytes` are taken, but for at least one direction. The samples behind `pool` must outlive the plan.
  StreamedKqdPlan(std::shared_ptr<const Directions> directions, const TestPool& pool, std::vector<std::size_t> order,
                  const MethodOptions& options, Over over, std::size_t max_bytes);

  [[nodiscard]] std::size_t num_rows() const override { return order_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override {
    return first_->tie_slack(value, largest_range_, lowest_precision_);
  }
  void evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                           ThreadCount threads) const override;
  [[nodiscard]] std::size_t num_directions() const override { return directions_->count(); }
  [[nodiscard]] double pooled_scale() const override { return pooled_scale_; }
  [[nodiscard]] std::size_t num_flat() const override { return num_flat_; }

 private:
  [[nodiscard]] std::unique_ptr<const KqdPlan> part(std::size_t first, ThreadCount threads) const;

  std::shared_ptr<const Directions> directions_;
  SampleView x_;
  SampleView y_;
  std::vector<std::size_t> order_;
  std::vector<double> weights_;
  MethodOptions options_;
  Over over_;
  std::size_t directions_at_a_time_;
  std::unique_ptr<const KqdPlan> first_;
  double largest_range_ = 0.0;
  GapPrecision lowest_precision_ = GapPrecision::full;
  double pooled_scale_ = 0.0;
  std::size_t num_flat_ = 0;
};

}  // namespace kqd
