#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "core/statistic_bundle.hpp"
#include "profile/function_set.hpp"
#include "profile/grouped_summary.hpp"
#include "simd/label_sums.hpp"

namespace kqd {

/// How differences of means d_j become one number, see MeanBundle.
enum class MeanSummary { coarse, fine, finest, largest, average, group };

/// Part of the mean variance of a group of functions: those of less variance count less in MeanSummary::group.
inline constexpr double kRareShare = 0.25;

/// Functions of the rows whose means are compared.
struct MeanFeatures {
  std::string name;
  std::size_t count = 0;
  SharedFunctions functions;               ///< have sizes
  std::vector<MeanSummary> statistics;     ///< one of each
  std::vector<double> variances = {};      ///< of the functions over the pool; empty: computed
  std::size_t group_size = 1;              ///< the largest statistic is over groups of so many neighbouring functions
  std::vector<FunctionGroup> groups = {};  ///< of MeanSummary::group
  std::vector<std::string> labels = {};    ///< of the first groups of functions: the columns behind them
};

/// Differences of the means of many functions f_j of the rows: with d_j the difference and v_j the pooled variance,
///   coarse    sum_j d_j^2                       of principal functions: the MMD itself (Nystroem),
///   fine      sum_j d_j^2 / (v_j + 0.03 v_1)    regularised (spectrally regularised MMD),
///   finest    sum_j d_j^2 / v_j                 whitened: over the 30 leading functions, fewer where rounding of the
///                                               others would make ties of different values,
///   largest   sqrt(max_j d_j^2 / v_j)           over all functions but those, or over sums of groups of them,
///   average   sum_j d_j^2 / v_j                 over the same,
///   group     the largest z over groups of functions, from sum_j d_j^2 / (v_j + a quarter of the group's mean v_j):
///   this
///             sum divided by its mean under permutation, as the normal score that the cube root of chi-square with the
///             group's degrees of freedom gives (Wilson and Hilferty), so that groups of any size compare.
/// Labels are read once for all of them. Of grouped rows, the mean of each unit takes the place of a row.
/// Cost: that of the functions, and O(N) per function and permutation.
class MeanBundle : public StatisticBundle {
 public:
  /// `weights`: of the rows, empty for equal ones. `pool` views rows that must outlive the bundle. `permutation_count`:
  /// how many values of each statistic will be compared.
  MeanBundle(std::vector<MeanFeatures> features, Pool pool, std::vector<double> weights, std::size_t permutation_count,
             ThreadCount threads);
  /// For permutations of groups of rows; `summary` collects the rows before the first evaluation.
  MeanBundle(std::vector<MeanFeatures> features, GroupedSummary& summary, std::size_t permutation_count,
             ThreadCount threads);
  /// The same from unit means of data, one set per list of features; these need no functions, but all variances.
  /// `mean_squared_sizes`: of all functions, one list after another.
  MeanBundle(std::vector<MeanFeatures> features, std::shared_ptr<const GroupedData> data,
             std::vector<std::size_t> unit_means, std::vector<double> mean_squared_sizes,
             std::size_t permutation_count);

  /// With all variances.
  [[nodiscard]] const std::vector<MeanFeatures>& features() const { return features_; }
  /// Of the terms that values of the functions are added from, one list of features after another.
  [[nodiscard]] const std::vector<double>& mean_squared_sizes() const { return mean_squared_sizes_; }

  [[nodiscard]] std::vector<std::string> names() const override;
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override;
  [[nodiscard]] double tie_slack(std::size_t r, double value) const override;
  [[nodiscard]] std::vector<std::string> largest_parts(const LabelBatch& labels, ThreadCount threads) const override;

 private:
  // One statistic: the factors of d_j^2, of as many functions as it compares from the first of its features on.
  struct Statistic {
    std::size_t first = 0;
    std::vector<double> factors;
    std::size_t group_size = 0;              // of the largest; 0: the sum of all
    double error = 0.0;                      // sum, or largest, of factor times mean squared size
    std::vector<FunctionGroup> groups = {};  // compared by normal scores
    std::size_t features = 0;                // number of its list of features

    [[nodiscard]] bool is_largest() const { return group_size > 0 || !groups.empty(); }
  };

  // Sums of functions over the rows that a permutation labels X, eight functions at a time.
  class FunctionSums {
   public:
    static constexpr std::size_t kGroup = 8;

    FunctionSums(std::size_t num_functions, std::size_t permutation_count)
        : num_groups_((num_functions + kGroup - 1) / kGroup),
          permutation_count_(permutation_count),
          sums_(num_groups_ * permutation_count, kGroup, 0.0) {}

    [[nodiscard]] std::size_t num_groups() const { return num_groups_; }
    /// A row per permutation.
    [[nodiscard]] MatrixView<double> group(std::size_t number) {
      return sums_.view().row_range(number * permutation_count_, permutation_count_);
    }
    [[nodiscard]] double operator()(std::size_t function, std::size_t permutation) const {
      return sums_(function / kGroup * permutation_count_ + permutation, function % kGroup);
    }

   private:
    std::size_t num_groups_;
    std::size_t permutation_count_;
    Matrix<double> sums_;
  };

  [[nodiscard]] FunctionSums labelled_sums(const simd::RowGroupLabels& labels, ThreadCount threads) const;
  // Turn sums of permutations begin + k into differences of means.
  [[nodiscard]] std::vector<double> scales_of(const FunctionSums& sums, std::size_t begin, std::size_t count) const;
  // values[k] of permutation begin + k.
  void read_differences(const Statistic& statistic, const FunctionSums& sums, std::size_t begin,
                        std::span<const double> scales, std::span<double> values) const;
  // Calls visit(group, values) for one group of functions after another; values[k] of permutation begin + k.
  template <class Visit>
  void for_each_group(const Statistic& statistic, const FunctionSums& sums, std::size_t begin,
                      std::span<const double> scales, Visit visit) const;
  // values(i, j) = function j of all features at row begin + i, less its pooled mean; sizes as above, if asked for.
  void evaluate_rows(std::size_t begin, std::size_t end, MatrixView<double> values,
                     MatrixView<double> sizes = {}) const;
  // values(i, j) = function j of all features for row or unit begin + i, less its pooled mean.
  void centred_functions(std::size_t begin, MatrixView<double> values) const;
  // Fills means_ and mean_squared_sizes_ from the rows of the pool, and the variances that are missing.
  void measure(ThreadCount threads);
  // The mean of a unit counts as often as it has rows.
  void weigh_units();
  void add_statistics(std::size_t permutation_count);
  [[nodiscard]] Statistic statistic(const MeanFeatures& features, std::size_t first, MeanSummary summary,
                                    std::size_t permutation_count) const;
  // Factors of the functions of groups, such that the mean of a group's sum under permutation is 1/nx + 1/ny.
  void add_group_factors(const MeanFeatures& features, std::size_t first, double most_error, Statistic& made) const;
  [[nodiscard]] double slack_of_groups(const Statistic& statistic) const;
  // Of a sum of squares with this sum of factors times squared sizes.
  [[nodiscard]] double slack_of_square(double value, double error) const;
  [[nodiscard]] double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }

  std::vector<MeanFeatures> features_;
  Pool pool_;                                // of grouped rows: the pilot
  std::shared_ptr<const GroupedData> data_;  // of grouped rows
  std::vector<std::size_t> unit_means_;      // of each list of features: number in the data
  std::size_t num_rows_;                     // that are compared
  std::size_t num_positions_;                // of a permutation: rows or units
  std::vector<double> weights_;              // of positions; empty: equal
  double total_weight_ = 0.0;
  std::vector<double> means_;  // of all functions, one list of features after another
  std::vector<double> mean_squared_sizes_;
  std::vector<Statistic> statistics_;
};

}  // namespace kqd
