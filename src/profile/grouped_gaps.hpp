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
  /// The first `count` permutations of the batches. `unit_rows`: rows of each unit; empty: all have as many.
  UnitPermutations(std::span<const LabelBatch> batches, std::size_t count, std::span<const double> unit_rows = {});

  [[nodiscard]] std::size_t count() const { return x_size_.size(); }
  /// Units have equally many rows. Then sizes are in units, else in rows.
  [[nodiscard]] bool equal_units() const { return equal_units_; }
  /// Size of all units together, and of those that permutation k labels X: whole numbers.
  [[nodiscard]] double total_size() const { return total_size_; }
  [[nodiscard]] double x_size(std::size_t k) const { return x_size_[k]; }
  [[nodiscard]] const simd::RowGroupLabels& labels() const { return labels_; }

 private:
  simd::RowGroupLabels labels_;
  bool equal_units_ = true;
  double total_size_ = 0.0;
  std::vector<double> x_size_;
};

/// taus[k] = sum over gaps between bins of weight |F_X - F_Y| there, for the k-th permutation. With GapWeight::size
/// that is tau_1 of the values that bins count as. Counts are whole numbers, so only the last sum rounds.
/// Cost: O(units bins) per permutation, by one product with the labels.
void grouped_gaps(const GroupedLine& line, GapWeight weight, const UnitPermutations& permutations,
                  std::span<double> taus);

/// taus(w, k) = the same with weights[w] of the gaps between bins: the rows are counted once for all of them.
void weighted_gaps(const GroupedLine& line, std::span<const std::vector<double>> weights,
                   const UnitPermutations& permutations, MatrixView<double> taus);

/// taus[k] = tau_p of the values that bins count as, for any power and level weights.
void grouped_quantile_gaps(const GroupedLine& line, Power power, const LevelWeights& levels,
                           const UnitPermutations& permutations, std::span<double> taus);

/// taus[u] = tau_p of the observed samples without unit u, in which permutation 0 of the batch labels the units.
void gaps_without_units(const GroupedLine& line, Power power, const LevelWeights& levels, const LabelBatch& observed,
                        std::span<double> taus);

/// sum over gaps of weight sqrt(F (1 - F)), F the share of all rows below: what the gap of a permutation is in
/// proportion to on average. 0 when one bin has all rows.
[[nodiscard]] double expected_grouped_gap(const GroupedLine& line, GapWeight weight);

/// Two evaluations of a gap that is the same number differ by at most this.
[[nodiscard]] double grouped_gap_slack(double tau);

/// Rows in each bin, of all units together.
[[nodiscard]] std::vector<double> rows_per_bin(const GroupedLine& line);

}  // namespace kqd
