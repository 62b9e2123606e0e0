#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "metrics/label_lanes.hpp"
#include "simd/sorted_pool.hpp"

namespace kqd {

/// How gaps along a line are added up where samples have equal sizes: in single precision, which is faster, or in
/// double where the many small gaps of a line would vanish next to a few wide ones, as those to an outlier.
enum class GapPrecision { single, full };  // ascending

/// The precision that a sorted line needs.
[[nodiscard]] GapPrecision precision_for(std::span<const double> sorted);

/// The permutations of one call, ready to be compared along one sorted line after another by tau_1 with uniform levels:
/// the area between the distribution functions of X and Y.
class GapScan {
 public:
  /// The first `count` permutations of the batches. `weights`: per row, empty: equal. Both must outlive the scan.
  GapScan(std::span<const LabelBatch> batches, std::size_t count, std::span<const double> weights);

  [[nodiscard]] std::size_t count() const { return num_x_.size(); }

  /// taus[k] = tau_1 of the k-th permutation. `line` holds all rows, or the lowest of them: then it is the part of
  /// tau_1 between those. A line turned around, values with the other sign, gives the part of the highest.
  void along(const simd::SortedPool& line, GapPrecision precision, std::span<double> taus) const;

 private:
  void scan(const simd::SortedPool& line, GapPrecision precision, std::span<double> taus) const;
  void scan_weighted(const simd::SortedPool& line, std::span<double> taus) const;
  void weigh_permutations();

  std::span<const LabelBatch> batches_;
  std::span<const double> weights_;
  std::size_t num_rows_;
  std::vector<std::size_t> num_x_;
  bool equal_sizes_ = false;
  std::vector<Matrix<std::uint64_t>> words_;  // without weights: batches side by side, as many as a kernel takes
  std::vector<LabelLanes> per_x_;             // with weights: 1 over the weight of X, and of Y, in each permutation
  std::vector<LabelLanes> per_y_;
};

/// Two evaluations of the same tau_1 by GapScan, along a line that spans `range`, differ by at most this.
[[nodiscard]] double gap_scan_slack(double tau, double range, std::size_t num_rows, bool weighted,
                                    GapPrecision precision);

}  // namespace kqd
