#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "profile/grouped_summary.hpp"
#include "quantiles/quantile_gap.hpp"
#include "simd/label_sums.hpp"

namespace kqd {

/// Permutations of units, ready for one line after another.
class UnitPermutations {
 public:
  /// The first `count` permutations of the batches.
  UnitPermutations(std::span<const LabelBatch> batches, std::size_t count);

  [[nodiscard]] std::size_t count() const { return num_x_.size(); }
  [[nodiscard]] std::size_t num_units() const { return num_units_; }
  [[nodiscard]] std::size_t num_x(std::size_t k) const { return num_x_[k]; }
  [[nodiscard]] const simd::RowGroupLabels& labels() const { return labels_; }

 private:
  simd::RowGroupLabels labels_;
  std::size_t num_units_;
  std::vector<std::size_t> num_x_;
};

/// taus[k] = sum over gaps between bins of weight |F_X - F_Y| there, for the k-th permutation. With GapWeight::size
/// that is tau_1 of the values that bins count as. Counts are whole numbers, so only the last sum rounds.
/// Cost: O(units bins) per permutation, by one product with the labels.
void grouped_gaps(const GroupedLine& line, GapWeight weight, const UnitPermutations& permutations,
                  std::span<double> taus);

/// taus[k] = tau_p of the values that bins count as, for any power and level weights.
void grouped_quantile_gaps(const GroupedLine& line, Power power, const LevelWeights& levels,
                           const UnitPermutations& permutations, std::span<double> taus);

/// sum over gaps of weight sqrt(F (1 - F)), F the share of all rows below: what the gap of a permutation is in
/// proportion to on average. 0 when one bin has all rows.
[[nodiscard]] double expected_grouped_gap(const GroupedLine& line, GapWeight weight);

/// Two evaluations of a gap that is the same number differ by at most this.
[[nodiscard]] double grouped_gap_slack(double tau);

/// Rows in each bin, of all units together.
[[nodiscard]] std::vector<double> rows_per_bin(const GroupedLine& line);

}  // namespace kqd
