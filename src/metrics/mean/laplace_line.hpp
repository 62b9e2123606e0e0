#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kqd/core/plan.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/kernel/kernel.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// True for exp(-|x - y| / s) in one dimension, by either of its names: its MMD needs one sort and one pass [BK23].
[[nodiscard]] bool is_laplace_on_line(const KernelSpec& kernel, std::size_t dim);

/// Squared norms in the space of exp(-|x - y| / s) on the line.
///
/// For a signed measure h on sorted points let C_i = sum_{j <= i} h_j exp(-(z_i - z_j) / s), computed in one pass. Then
///
///   h' K h = sum_i C_i^2 (1 - exp(-2 (z_{i+1} - z_i) / s)),   the last factor being 1,
///
/// since h_i = C_i - exp(-gap) C_{i-1}: a sum of squares, in which nothing cancels, unlike in the textbook
/// form sum h_i^2 + 2 sum h_i S_i.
struct LineNorms {
  double xx = 0.0;          ///< of the mean embedding of X
  double yy = 0.0;          ///< of the mean embedding of Y
  double difference = 0.0;  ///< MMD_V^2
};

/// Cost: O(N log N). Exactly 0 between equal samples.
[[nodiscard]] LineNorms laplace_line_norms(double bandwidth, const SampleView& x, const SampleView& y);

/// The unbiased estimate of MMD^2 from V-statistics of a kernel with k(z, z) = 1: with A = sum a_i^2,
/// (xx - A) / (1 - A) = xx - (1 - xx) A / (1 - A), and the same for Y.
struct Concentration {
  double of_x = 0.0;  ///< sum a_i^2
  double of_y = 0.0;
};
[[nodiscard]] double unbiased_from(const LineNorms& norms, const Concentration& squares);

/// The MMD of every permutation by one pass over the sorted pool for 64 permutations at a time: O(N) per permutation,
/// O(N) memory.
class LaplaceLinePlan : public Plan {
 public:
  LaplaceLinePlan(double bandwidth, const TestPool& pool, MmdEstimate estimate);

  [[nodiscard]] std::size_t num_rows() const override { return order_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override;

  /// The variance of the pool in the feature space.
  [[nodiscard]] double pooled_variance() const { return pooled_variance_; }

 private:
  void evaluate_batch(const LabelBatch& batch, std::span<double> values) const;

  MmdEstimate estimate_;
  std::vector<std::uint32_t> order_;  // position of the k-th smallest point
  std::vector<double> weights_;       // of the k-th smallest point
  std::vector<double> decay_;         // exp(-gap / s) from the point before
  std::vector<double> gain_;          // 1 - exp(-2 gap / s) to the point after
  std::vector<double> total_;         // C_k of the pool's weights
  double total_weight_ = 0.0;
  double pooled_variance_ = 0.0;
  double concentration_ = 0.0;  // approximates sum a_i^2 / (1 - sum a_i^2), added over both groups
};

}  // namespace kqd
