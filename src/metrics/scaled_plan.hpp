#pragma once
#include <memory>
#include <span>
#include <utility>

#include "kqd/core/plan.hpp"

namespace kqd {

/// A plan whose values are multiplied by a factor > 0.
class ScaledPlan : public Plan {
 public:
  ScaledPlan(std::unique_ptr<const Plan> plan, double factor) : plan_(std::move(plan)), factor_(factor) {}

  [[nodiscard]] std::size_t num_rows() const override { return plan_->num_rows(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override {
    plan_->evaluate(batches, values, threads);
    for (double& value : values) value *= factor_;
  }
  [[nodiscard]] std::size_t batches_per_call() const override { return plan_->batches_per_call(); }
  [[nodiscard]] double tie_slack(double value) const override { return factor_ * plan_->tie_slack(value / factor_); }

 private:
  std::unique_ptr<const Plan> plan_;
  double factor_;
};

}  // namespace kqd
