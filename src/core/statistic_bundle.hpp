#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Several statistics that share most of their work, for the same permutations of the same pooled rows. What Plan
/// promises of one statistic holds for each: functions of the unlabelled pool, larger means further apart.
class StatisticBundle {
 public:
  virtual ~StatisticBundle() = default;

  /// One name per statistic.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;

  /// values(r, k) of statistic r for the k-th permutation, counted through all batches. Same bits for any thread count.
  virtual void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const = 0;

  /// Two permutations with the same exact value of statistic r may be evaluated this far apart.
  [[nodiscard]] virtual double tie_slack(std::size_t r, double value) const = 0;

  /// Of each statistic that is the largest over parts of a table: the part that it has its value from under the first
  /// permutation of the batch, such as "income by plan"; empty of others, and where parts have no labels.
  [[nodiscard]] virtual std::vector<std::string> largest_parts(const LabelBatch& /*labels*/,
                                                               ThreadCount /*threads*/) const {
    return std::vector<std::string>(names().size());
  }
};

/// How several statistics of the same permutations become one number per permutation. Every rule treats the
/// permutations alike, so their aggregates are exchangeable whenever the permutations are, and one layer of
/// permutations calibrates the whole.
enum class Aggregation {
  smooth_min_p,  ///< max_r log(w_r / p_r) with smooth p-values: as min_p, without its coarse steps
  soft_min_p,    ///< log sum_r (w_r / p_r)^1.5 with smooth p-values: the smallest count most, agreement counts too
  min_p,         ///< max_r log(w_r / p_r) with p-values by rank [WY93]
  fuse,          ///< log sum_r w_r exp(T_r): statistics that come scaled, as in MMD-FUSE [Big23]
  two_layer,     ///< min-p with ranks from the first half of the permutations, as in MMDAgg [Sch23]
};

/// Statistics of several kinds, and how they become one.
struct AggregatedPlan {
  std::vector<std::unique_ptr<const StatisticBundle>> bundles;
  std::vector<double> weights;  ///< of the statistics of all bundles in order, > 0, sum 1
  Aggregation rule = Aggregation::soft_min_p;
  std::shared_ptr<const void> data = {};          ///< rows of its own that the bundles refer to
  std::size_t max_bytes = std::size_t{4} << 30U;  ///< for what is held of all statistics and permutations at once
};

}  // namespace kqd
