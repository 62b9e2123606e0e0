#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kqd/core/plan.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/quantile/pooled_projections.hpp"

namespace kqd {

/// A plan that measures a gap along each of several directions and makes one number of them.
class DirectionalPlan : public Plan {
 public:
  /// taus(i, k) = tau_p along direction i for the k-th permutation, rooted.
  virtual void evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                                   ThreadCount threads) const = 0;
  [[nodiscard]] virtual std::size_t num_directions() const = 0;
  /// Root mean square over directions of the pooled standard deviation.
  [[nodiscard]] virtual double pooled_scale() const = 0;
  /// Directions along which the pooled values are mostly one value.
  [[nodiscard]] virtual std::size_t num_flat() const = 0;

  /// tau_p along every direction for the first permutation of a batch, rooted.
  [[nodiscard]] std::vector<double> per_direction(const LabelBatch& batch, ThreadCount threads) const;

  /// States that the directions were drawn independently from one distribution: either half of them is then a draw
  /// that another seed could have given. `over` and `power` are those of the plan.
  void set_independent_directions(Over over, double power) {
    over_of_halves_ = over;
    power_of_halves_ = power;
  }
  [[nodiscard]] bool has_halves() const override { return over_of_halves_ && num_directions() >= 2; }
  void evaluate_with_halves(std::span<const LabelBatch> batches, std::span<double> values, MatrixView<double> halves,
                            ThreadCount threads) const override;

 protected:
  /// values[k] = the mean or the largest of the gaps of evaluate_directions().
  void evaluate_over_directions(Over over, double power, std::span<const LabelBatch> batches, std::span<double> values,
                                ThreadCount threads) const;

 private:
  std::optional<Over> over_of_halves_;
  double power_of_halves_ = 1.0;
};

/// e-KQD and sup-KQD of every permutation, from projections sorted once.
///
/// Along each direction the pooled values are kept ascending, measured from the smallest in units of their range: gaps
/// of quantiles only feel the unit, and no power of them overflows. Three ways lead from labels to tau, the fastest
/// that fits is taken: a scan of running label counts or weights (p = 1, uniform levels), a split of the sorted values
/// by label (p <= 8 or infinity), and quantile functions built per permutation (row weights, larger p, centered forms).
class KqdPlan : public DirectionalPlan {
 public:
  /// `order`: position -> row of (X, Y). A centered plan owns the MMD plan whose V-statistic it needs.
  KqdPlan(const Directions& directions, const TestPool& pool, const std::vector<std::size_t>& order,
          const MethodOptions& options, Over over, std::unique_ptr<const MmdPlan> mmd);
  /// From projections (one row per direction, one column per position) and the rows' weights, empty for equal ones.
  KqdPlan(Matrix<double> projections, std::vector<double> weights, const MethodOptions& options, Over over,
          std::unique_ptr<const MmdPlan> mmd = nullptr, GapWeight weight = GapWeight::size);
  ~KqdPlan() override;

  [[nodiscard]] std::size_t num_rows() const override { return values_.cols(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override;
  [[nodiscard]] double tie_slack(double value) const override {
    return tie_slack(value, largest_range(), lowest_precision());
  }
  /// The same for a plan of which this is a part, whose values span at most `largest_range` along any direction.
  [[nodiscard]] double tie_slack(double value, double largest_range, GapPrecision lowest_precision) const;
  [[nodiscard]] double largest_range() const;
  [[nodiscard]] GapPrecision lowest_precision() const;

  void evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                           ThreadCount threads) const override;

  /// sum_k sqrt(F_k (1 - F_k)) gap_k along every direction: what tau_1 is proportional to on average over permutations,
  /// with the same factor for all directions. 0 where all values are equal.
  [[nodiscard]] std::vector<double> expected_gaps() const;

  [[nodiscard]] std::size_t num_directions() const override { return values_.rows(); }
  [[nodiscard]] double pooled_scale() const override { return pooled_scale_; }
  [[nodiscard]] std::size_t num_flat() const override { return num_flat_; }

  /// Memory that a plan keeps per direction: sorted values in doubles, their positions in 32 bits.
  [[nodiscard]] static constexpr std::size_t bytes_per_direction(std::size_t num_rows) {
    return num_rows * (sizeof(double) + sizeof(std::uint32_t));
  }

 private:
  class Evaluation;
  [[nodiscard]] bool scannable() const;
  [[nodiscard]] bool splittable() const;

  Over over_;
  double power_;
  LevelWeights weighting_;
  bool point_evaluated_levels_;
  std::vector<double> weights_;           // per position; empty: equal
  Matrix<double> values_;                 // l x N, ascending, in [0, 1]
  Matrix<std::uint32_t> order_;           // l x N: position of each value
  std::vector<double> units_;             // per direction: the range of its values, or 1 when they are all equal
  std::vector<GapPrecision> precisions_;  // per direction, where gaps are scanned
  std::unique_ptr<const MmdPlan> mmd_;
  double pooled_scale_ = 0.0;
  std::size_t num_flat_ = 0;
};

/// A KqdPlan whose sorted projections do not all fit into memory: the first directions are kept, the others are
/// projected, sorted, evaluated and dropped a few at a time, once per call of evaluate(). Same values as KqdPlan.
class StreamedKqdPlan : public DirectionalPlan {
 public:
  /// At most `max_bytes` are taken, but for at least one direction. The samples behind `pool` must outlive the plan.
  StreamedKqdPlan(std::shared_ptr<const Directions> directions, const TestPool& pool, std::vector<std::size_t> order,
                  const MethodOptions& options, Over over, std::size_t max_bytes);

  [[nodiscard]] std::size_t num_rows() const override { return order_.size(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(double value) const override {
    return first_->tie_slack(value, largest_range_, lowest_precision_);
  }
  void evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                           ThreadCount threads) const override;
  [[nodiscard]] std::size_t num_directions() const override { return directions_->count(); }
  [[nodiscard]] double pooled_scale() const override { return pooled_scale_; }
  [[nodiscard]] std::size_t num_flat() const override { return num_flat_; }

 private:
  [[nodiscard]] std::unique_ptr<const KqdPlan> part(std::size_t first, ThreadCount threads) const;

  std::shared_ptr<const Directions> directions_;
  SampleView x_;
  SampleView y_;
  std::vector<std::size_t> order_;
  std::vector<double> weights_;
  MethodOptions options_;
  Over over_;
  std::size_t directions_at_a_time_;
  std::unique_ptr<const KqdPlan> first_;
  double largest_range_ = 0.0;
  GapPrecision lowest_precision_ = GapPrecision::full;
  double pooled_scale_ = 0.0;
  std::size_t num_flat_ = 0;
};

}  // namespace kqd
