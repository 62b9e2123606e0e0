#pragma once
#include <vector>

#include "metrics/features/group_sum_plan.hpp"

namespace kqd {

/// Features in which the pool has unit covariance.
struct WhitenedFeatures {
  FeatureMap map;                   ///< one feature per principal direction of the pool that is not flat
  std::vector<double> eigenvalues;  ///< of the pooled covariance along each direction
};

/// Turns features to the principal directions of the pool and scales them to variance 1; directions whose variance is
/// below 1e-10 of the largest are dropped, so that copies and constants among the features have no effect.
/// Hotelling's statistic does not change, except for rounding along flat directions. `features`: of `map`, with their
/// products. O(F^3).
[[nodiscard]] WhitenedFeatures whiten(const FeatureMap& map, const PooledFeatures& features);

/// T = z' (C_X + C_Y + gamma kappa/2 I)^-1 z, z the gap between mean features and C the estimated covariance of a mean,
/// S/n without weights. With J = 1 and gamma = 0 the square of Welch's t.
///
/// kappa = 1/nx + 1/ny: for nx = ny = n this is n z' (S_X + S_Y + gamma I)^-1 z, as Jitkrittum et al. have it, and the
/// ridge keeps its proportion to S for other sizes. With weights, C = s/(1 - s) sum a_i (g_i - m)(g_i - m)' with shares
/// a and s = sum a_i^2.
class Hotelling : public GroupStatistic {
 public:
  /// `eigenvalues`: of the whitened features; `ridge`: gamma >= 0, in the units of the features before.
  Hotelling(double ridge, std::vector<double> eigenvalues) : ridge_(ridge), eigenvalues_(std::move(eigenvalues)) {}

  [[nodiscard]] bool needs_products() const override { return true; }
  [[nodiscard]] double value(const GroupSums& x, const GroupSums& y, const PooledFeatures& pooled) const override;
  [[nodiscard]] double slack(double value, double rounding, const PooledFeatures& pooled) const override;
  /// 1/kappa: the value over it is a squared Mahalanobis distance, whatever the sizes.
  [[nodiscard]] double pooled_scale(const PooledFeatures& pooled) const override;

 private:
  double ridge_;
  std::vector<double> eigenvalues_;
};

}  // namespace kqd
