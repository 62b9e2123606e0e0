#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/core/plan.hpp"

namespace kqd {

/// One plan as a bundle of one statistic, multiplied by a factor > 0.
class PlanBundle : public StatisticBundle {
 public:
  PlanBundle(std::string name, std::unique_ptr<const Plan> plan, double factor = 1.0)
      : name_(std::move(name)), plan_(std::move(plan)), factor_(factor) {}

  [[nodiscard]] std::vector<std::string> names() const override { return {name_}; }
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override {
    plan_->evaluate(batches, values.row(0), threads);
    for (double& value : values.row(0)) value *= factor_;
  }
  [[nodiscard]] double tie_slack(std::size_t /*r*/, double value) const override {
    return factor_ * plan_->tie_slack(value / factor_);
  }

 private:
  std::string name_;
  std::unique_ptr<const Plan> plan_;
  double factor_;
};

}  // namespace kqd
