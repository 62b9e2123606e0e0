#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/plan.hpp"
#include "metrics/mean/incomplete_mmd.hpp"

namespace kqd {

/// An incomplete MMD under swaps of x_i with y_i: a swap multiplies h_ij by -1 for every j, so that with e_i = +-1 the
/// statistic is the mean of e_i e_j h_ij. Kernel values are computed once.
///
/// Positions 2 i and 2 i + 1 of the plan are the two rows of pair i, of which a permutation labels one X.
class SignFlipPlan : public Plan {
 public:
  /// `rows` holds the pairs one after the other, `num_pairs` of them; those beyond the pattern are not used.
  SignFlipPlan(const Kernel& kernel, PairPattern pattern, const Pool& rows, ThreadCount threads);

  [[nodiscard]] std::size_t num_rows() const override { return num_rows_; }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override;

 private:
  [[nodiscard]] std::span<const double> terms_of_row(std::size_t i) const {
    return std::span(terms_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
  }
  void evaluate_batch(const LabelBatch& batch, std::span<double> values) const;

  std::size_t num_rows_;
  PairPattern pattern_;
  std::vector<std::size_t> begins_;  // of the terms of each row
  std::vector<double> terms_;        // h_ij, row by row
  double mean_size_ = 0.0;           // mean |h_ij|
};

}  // namespace kqd
