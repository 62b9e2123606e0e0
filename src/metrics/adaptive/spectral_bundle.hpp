#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/feature_map.hpp"
#include "core/statistic_bundle.hpp"
#include "directions/principal.hpp"
#include "kqd/kernel/kernel.hpp"
#include "profile/function_set.hpp"
#include "profile/grouped_summary.hpp"

namespace kqd {

/// How fine the differences of means are that a statistic amplifies, see SpectralBundle.
enum class Fineness { coarse, fine, finest };

/// A kernel, seen through the principal functions of the pool.
struct SpectralView {
  std::string name;
  Kernel kernel;
  PrincipalBasis basis;
  std::vector<Fineness> statistics;  ///< one of each
  RowFunctions functions = {};       ///< those of principal_functions(kernel, basis), where they are shared; else empty
};

/// The functions e_j of a basis.
[[nodiscard]] FunctionSet principal_functions(const Kernel& kernel, const PrincipalBasis& basis);

/// Differences of kernel mean embeddings, seen along the principal functions e_j of the pool: with d_j the difference
/// of the means of e_j and v_j the pooled variance along it,
///   coarse    the MMD itself   sum_j d_j^2                       (Nystroem),
///   fine      regularised      sum_j d_j^2 / (v_j + 0.03 v_1)    (spectrally regularised MMD),
///   finest    whitened         sum_j d_j^2 / v_j                 over the 30 leading functions, fewer where rounding
///                                                                of the others would make ties of different values.
/// Labels are read once for all kernels. Of grouped rows, the mean of each unit takes the place of a row.
/// Cost: O(N m (d + r)) per kernel and O(N r) per kernel and permutation.
class SpectralBundle : public StatisticBundle {
 public:
  /// `weights`: of the rows, empty for equal ones. `pool` views rows that must outlive the bundle. `permutation_count`:
  /// how many values of each statistic will be compared.
  SpectralBundle(std::vector<SpectralView> views, Pool pool, std::vector<double> weights, std::size_t permutation_count,
                 ThreadCount threads);
  /// For permutations of groups of rows; `summary` collects the rows before the first evaluation.
  SpectralBundle(std::vector<SpectralView> views, GroupedSummary& summary, std::size_t permutation_count,
                 ThreadCount threads);
  /// The same from unit means of data, one set per view; views need only names, variances and statistics.
  SpectralBundle(std::vector<SpectralView> views, std::shared_ptr<const GroupedData> data,
                 std::vector<std::size_t> unit_means, std::vector<double> mean_squared_sizes,
                 std::size_t permutation_count);

  [[nodiscard]] const std::vector<SpectralView>& views() const { return views_; }
  /// Of the functions of all views, one view after another.
  [[nodiscard]] const std::vector<double>& mean_squared_sizes() const { return mean_squared_sizes_; }

  [[nodiscard]] std::vector<std::string> names() const override;
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(std::size_t r, double value) const override;

 private:
  // Means and sizes of the terms of all functions over some rows.
  void measure(ThreadCount threads);
  // How many functions of each view are whitened.
  void choose_whitened(std::size_t permutation_count);
  // values(i, j) = function j of all views for row or unit begin + i, less its pooled mean.
  void centred_functions(std::size_t begin, MatrixView<double> values) const;
  // values(i, j) = function j of all views at row begin + i, less its pooled mean; sizes(i, j) = the sum of the sizes
  // of the terms that it is added from, if asked for.
  void features(std::size_t begin, std::size_t end, MatrixView<double> values, MatrixView<double> sizes = {}) const;
  // The factors of the squared differences d_j^2 of a view in a statistic.
  [[nodiscard]] std::vector<double> factors(std::size_t view, Fineness fineness) const;
  [[nodiscard]] double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }

  std::vector<SpectralView> views_;
  Pool pool_;                                // of grouped rows: the pilot
  std::shared_ptr<const GroupedData> data_;  // of grouped rows
  std::vector<std::size_t> unit_means_;      // of each view: number in the data
  std::size_t num_rows_;                     // that are compared
  std::size_t num_positions_;                // of a permutation: rows or units
  std::vector<double> weights_;
  double total_weight_ = 0.0;
  std::vector<double> means_;               // of the functions of all views, one view after another
  std::vector<double> mean_squared_sizes_;  // of the terms that values of these functions are added from
  std::vector<std::size_t> num_whitened_;   // of each view: functions of the finest statistic
};

}  // namespace kqd
