#pragma once
#include "metrics/features/group_sum_plan.hpp"

namespace kqd {

/// Statistics of the gap between the mean features of two groups.
enum class MeanGapForm {
  root,         ///< |gap|: MMD_V of the kernel that the features span
  unbiased,     ///< the U-statistic of its square, signed
  mean_square,  ///< |gap|^2 over the number of features (UME)
};

/// The gap between mean features, as a statistic.
class MeanGap : public GroupStatistic {
 public:
  explicit MeanGap(MeanGapForm form) : form_(form) {}

  [[nodiscard]] bool is_root() const override { return form_ == MeanGapForm::root; }
  [[nodiscard]] double value(const GroupSums& x, const GroupSums& y, const PooledFeatures& pooled) const override;
  [[nodiscard]] double slack(double value, double rounding, const PooledFeatures& pooled) const override;
  [[nodiscard]] double pooled_scale(const PooledFeatures& pooled) const override;

 private:
  MeanGapForm form_;
};

/// Bound on the error of the gap between mean features when sums have errors of `rounding` times their magnitudes.
[[nodiscard]] double gap_error(double rounding, const PooledFeatures& pooled);

}  // namespace kqd
