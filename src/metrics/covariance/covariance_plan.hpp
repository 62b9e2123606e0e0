#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/plan.hpp"
#include "metrics/mean/centred_gram.hpp"

namespace kqd {

/// k^2, the kernel whose mean embedding is the uncentered covariance embedding.
[[nodiscard]] KernelSpec squared_kernel(const KernelSpec& kernel);

/// |Sigma_P - Sigma_Q|_HS of every permutation from tiles of the Gram matrix that are made and forgotten.
///
/// Covariances do not change when the feature map is moved, so the kernel is centred at the pooled mean. With the
/// weights p, q of the groups, K the centred matrix, K2 its entries squared, g = K p, t = Wx / Wy and K w = 0 for the
/// weights w = Wx p + Wy q of the pool, K q = -t g, and the square of the distance becomes
///
///   (p - q)' K2 (p - q) + 2 (1 - t^2) (sum q_i g_i^2 - sum p_i g_i^2) + (1 - t^2)^2 (p' g)^2.
///
/// The first term is an MMD with the kernel K2, which is centred once more for it; for groups of equal weight it is
/// all.
class CovariancePlan : public Plan {
 public:
  CovariancePlan(const Kernel& kernel, const TestPool& pool, const std::vector<std::size_t>& order,
                 ThreadCount threads);

  [[nodiscard]] std::size_t num_rows() const override { return gram_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override;

  /// The spread of the pool in the units of the statistic: the root of the variance of (phi - mu) x (phi - mu).
  [[nodiscard]] double pooled_scale() const;

 private:
  CentredGram gram_;
  std::vector<double> square_means_;  // sum_j w_j K_ij^2 / W
  double square_grand_mean_ = 0.0;
  double mean_square_diagonal_ = 0.0;  // sum_i w_i K_ii^2 / W
};

}  // namespace kqd
