#pragma once
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kqd/core/plan.hpp"
#include "kqd/kernel/kernel.hpp"
#include "metrics/mean/centred_gram.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// Which estimate of MMD^2.
enum class MmdEstimate {
  v_squared,  ///< MMD_V^2 = h' K h >= 0
  v_root,     ///< MMD_V
  u,          ///< unbiased: without the diagonal, may be negative
};

/// MMD^2 of every permutation from tiles of the Gram matrix (CentredGram): bounded memory at any size, one
/// pass for all permutations of a call.
///
/// The V-statistic, and the U-statistic of rows without weights, do not change when the feature map is moved, so the
/// kernel is centred at the (weighted) pooled mean. Then K w = 0 for the weights w of the pooled rows, and one
/// quadratic form per permutation is all that is left: with q = (w x)' K (w x) for labels x in {0, 1}, the sums within
/// X and within Y are both q and the cross sum is -q. The quadratic form has the size of the statistic, so no
/// digits are lost to cancellation.
class MmdPlan : public Plan {
 public:
  /// `order`: position -> row of (X, Y). `pool` is copied, its samples are not: they must outlive the plan.
  MmdPlan(Kernel kernel, const TestPool& pool, std::vector<std::size_t> order, MmdEstimate estimate,
          ThreadCount threads);

  [[nodiscard]] std::size_t num_rows() const override { return gram_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override;

  /// sum_i w_i k(z_i, z_i) / W of the centred kernel: the variance of the pool in the feature space.
  [[nodiscard]] double pooled_variance() const { return pooled_variance_; }

 private:
  // Sums over the X rows of a permutation: of w, w^2, w^2 k(z, z) with the centred kernel, w m and w^2 m, where m is a
  // row's mean of the kernel.
  enum Sum : std::size_t { kWeight, kSquare, kDiagonal, kMean, kSquareMean, kNumSums };
  using GroupSums = std::array<double, kNumSums>;

  [[nodiscard]] double estimate_from(double quadratic_form, const GroupSums& x) const;

  CentredGram gram_;
  MmdEstimate estimate_;
  Matrix<double> terms_;  // one row per position, one column per sum
  GroupSums totals_{};    // over all rows
  double pooled_variance_ = 0.0;
};

/// Prepares the test of an MMD: by tiles of the Gram matrix, or for the Laplace kernel of one column by sorting.
[[nodiscard]] PreparedPlan prepare_mmd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                                       MmdEstimate estimate);

/// Throws Error{empty_sample, invalid_weights} for a sample without two rows of weight: it has no unbiased MMD.
void require_two_rows_of_weight(const SampleView& sample, std::string_view name);

}  // namespace kqd
