#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/summation.hpp"
#include "kqd/core/plan.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// 2 integral (F - G)^2 = 2 sum_k (F_k - G_k)^2 (v_(k+1) - v_(k)): the energy distance on the line.
/// `values` are ascending; is_x(k) is true if the k-th belongs to X, weight(k) is its weight in its sample.
template <class IsX, class Weight>
[[nodiscard]] double energy_on_the_line(std::span<const double> values, const IsX& is_x, const Weight& weight) {
  CompensatedSum total_x;
  CompensatedSum total_y;
  for (std::size_t k = 0; k < values.size(); ++k) (is_x(k) ? total_x : total_y).add(weight(k));
  CompensatedSum x;
  CompensatedSum y;
  CompensatedSum energy;
  for (std::size_t k = 0; k + 1 < values.size(); ++k) {
    (is_x(k) ? x : y).add(weight(k));
    const double difference = x.over(total_x) - y.over(total_y);
    energy.add(difference * difference * (values[k + 1] - values[k]));
  }
  return 2.0 * energy.value();
}

/// E|u_1| for u uniform on the unit sphere of R^d: Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)).
[[nodiscard]] double mean_absolute_coordinate(std::size_t dim);

/// The energy distance of every permutation along directions of R^d, over E|u_1|: exact on the line, and for uniform
/// directions the energy distance in R^d on average. Rows are sorted once; a permutation costs O(N) per direction.
class EnergyPlan : public Plan {
 public:
  /// `directions` are linear.
  EnergyPlan(const Directions& directions, const TestPool& pool, ThreadCount threads);

  [[nodiscard]] std::size_t num_rows() const override { return pool_.values.cols(); }
  void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const override;
  [[nodiscard]] std::size_t batches_per_call() const override;
  [[nodiscard]] double tie_slack(double value) const override;

  /// The mean distance between two pooled points along the directions, over E|u_1|.
  [[nodiscard]] double pooled_scale() const { return pooled_scale_; }

 private:
  struct Labels;
  void scan(std::size_t direction, const Labels& labels, std::span<double> energies) const;
  [[nodiscard]] double weighted_energy(std::size_t direction, const LabelBatch& batch, unsigned b) const;

  PooledProjections pool_;
  std::vector<double> weights_;  // per position; empty: equal
  double per_energy_;            // 1 / E|u_1|
  double pooled_scale_ = 0.0;
};

}  // namespace kqd
