#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "kqd/core/plan.hpp"

namespace kqd {

/// The area under the ROC curve of given scores: the share of pairs (x, y) within the same part in which x has the
/// larger score. Parts are ranked by themselves, since learners of different parts have different scales.
///
/// Rows of a part with equal scores are ranked by their position, which is label-blind. So the ranks of a part are
/// always 1, 2, ..., n, and the permutation distribution does not depend on the scores
/// (docs/design/0008-classifier.md).
class AucPlan : public Plan {
 public:
  /// `ends`: the row after the last one of each part. With `constant`, the value is 1/2 for all labels.
  AucPlan(std::span<const double> scores, std::vector<std::size_t> ends, bool constant);

  [[nodiscard]] std::size_t num_rows() const override { return ranks_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override { return kBatchesAtATime; }
  // Numerator and denominator are whole numbers: equal values have equal bits.
  [[nodiscard]] double tie_slack(double /*value*/) const override { return 0.0; }

  /// The value for one permutation of the labels.
  [[nodiscard]] double value(std::span<const char> is_x) const;
  /// The standard deviation of the value over all labels with as many X in each part.
  [[nodiscard]] double null_deviation(std::span<const char> is_x) const;
  /// The standard error of the value as an estimate for rows of the same two distributions [DDC88]; no value when a
  /// part with rows of both samples has only one of either.
  [[nodiscard]] double standard_error(std::span<const char> is_x) const;

 private:
  static constexpr std::size_t kBatchesAtATime = 8;

  void evaluate_some(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const;
  [[nodiscard]] std::size_t begin_of(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
  [[nodiscard]] double value_of(std::span<const double> sums) const;

  std::vector<double> ranks_;  // within the part, from 1
  std::vector<std::size_t> ends_;
  bool constant_;
};

}  // namespace kqd
