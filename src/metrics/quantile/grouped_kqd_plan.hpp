#pragma once
#include <memory>
#include <vector>

#include "metrics/quantile/kqd_plan.hpp"
#include "profile/grouped_summary.hpp"

namespace kqd {

/// e-KQD and sup-KQD of permutations of groups of rows, from counts along a grid of each direction: memory and time of
/// a permutation do not depend on the number of rows.
class GroupedKqdPlan : public DirectionalPlan {
 public:
  /// Reads all rows once. The rows are not used afterwards.
  GroupedKqdPlan(std::shared_ptr<const GroupedRows> rows, std::shared_ptr<const Directions> directions,
                 const MethodOptions& options, Over over);
  /// From lines first_line .. first_line + count - 1 of data.
  GroupedKqdPlan(std::shared_ptr<const GroupedData> data, std::size_t first_line, std::size_t count,
                 const MethodOptions& options, Over over);

  [[nodiscard]] std::size_t num_rows() const override { return data_->num_units(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override { return kBatchesAtATime; }
  [[nodiscard]] double tie_slack(double value) const override;
  void evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                           ThreadCount threads) const override;
  [[nodiscard]] std::size_t num_directions() const override { return num_directions_; }
  [[nodiscard]] double pooled_scale() const override { return pooled_scale_; }
  [[nodiscard]] std::size_t num_flat() const override { return num_flat_; }

  /// The statistic and the pooled scale without one of the units.
  struct WithoutUnit {
    double value = 0.0;
    double pooled_scale = 0.0;
  };
  /// One for each unit, which permutation 0 of the batch labels.
  [[nodiscard]] std::vector<WithoutUnit> without_units(const LabelBatch& observed, ThreadCount threads) const;

 private:
  static constexpr std::size_t kBatchesAtATime = 32;

  [[nodiscard]] bool sums_of_gaps() const { return power_ == 1.0 && weighting_.is_uniform(); }

  [[nodiscard]] const GroupedLine& line(std::size_t i) const { return data_->lines[first_line_ + i]; }

  std::shared_ptr<const GroupedData> data_;
  std::size_t first_line_;
  std::size_t num_directions_;
  Over over_;
  double power_;
  LevelWeights weighting_;
  double largest_range_ = 0.0;
  double pooled_scale_ = 0.0;
  std::size_t num_flat_ = 0;
};

}  // namespace kqd
