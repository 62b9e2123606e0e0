#pragma once
#include <span>
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Values of a row within `slack` of their neighbours become equal, which restores exact ties that rounding broke.
void merge_ties(std::span<double> row, double slack);

/// The extremeness of each value of a row among the others, as a standard normal deviate: studentised by mean,
/// deviation and skewness of the other values, then deskewed by the cube root of Wilson and Hilferty. Leaving the value
/// itself out keeps an outlier from hiding itself; the rule is the same for every value. 0 for a row without spread.
void deskewed_scores(std::span<const double> statistics, std::span<double> scores);

/// The outcome of one statistic among several.
struct AggregatedStatistic {
  double value = 0.0;            ///< for the observed permutation
  double pvalue = 1.0;           ///< its own: (1 + exceedances) / (1 + B)
  double score = 0.0;            ///< how extreme it is, as a standard normal deviate (deskewed_scores)
  double adjusted_pvalue = 1.0;  ///< by step-down over all statistics [WY93, Alg. 2.8]
};

/// One aggregate per permutation: larger means more extreme. Column 0 of `statistics` (one row each) is the observed
/// permutation; `weights` are > 0 and sum to 1. For the rule two_layer the columns 1 .. n/2 are spent on ranks and get
/// no aggregate of their own: the result has the observed one first and then those of the second half.
[[nodiscard]] std::vector<double> aggregate(Aggregation rule, MatrixView<const double> statistics,
                                            std::span<const double> weights);

/// Each statistic for itself and adjusted for all: step-down max-T on deskewed scores, so that the resolution does not
/// suffer from their number. Family-wise exact under equal distributions.
[[nodiscard]] std::vector<AggregatedStatistic> adjusted_statistics(MatrixView<const double> statistics);

}  // namespace kqd
