#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kqd/core/plan.hpp"

namespace kqd {

/// The plan of a statistic without a shortcut: it is computed again for every permutation, several at a time.
class DirectPlan : public Plan {
 public:
  /// The statistic of a permutation: positions of the plan that are labelled X and those labelled Y, both ascending.
  /// Must be a function of its arguments and of what was prepared on the unlabelled pool, and safe to call from several
  /// threads.
  using Statistic = std::function<double(std::span<const std::size_t> x, std::span<const std::size_t> y)>;
  /// Bound on the difference of two evaluations of the same exact value.
  using Slack = std::function<double(double value)>;

  DirectPlan(std::size_t num_rows, Statistic statistic, Slack slack);

  [[nodiscard]] std::size_t num_rows() const override { return num_rows_; }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override { return 1; }
  [[nodiscard]] double tie_slack(double value) const override { return slack_(value); }

 private:
  std::size_t num_rows_;
  Statistic statistic_;
  Slack slack_;
};

}  // namespace kqd
