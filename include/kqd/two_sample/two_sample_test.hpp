#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/profile/group_rule.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "kqd/testing/pvalue.hpp"
#include "kqd/two_sample/margin.hpp"

namespace kqd KQD_PUBLIC {

/// The null distribution that the observed statistic is compared with.
enum class Calibration {
  permutation,  ///< all permutations that the design allows
  sign_flip,    ///< only swaps of x_i and y_i: fewer, still exact; needs nx = ny and a method that allows it
  asymptotic,   ///< the limiting distribution of the statistic: no permutations, exact in the limit only
};

[[nodiscard]] Calibration parse_calibration(std::string_view text);
[[nodiscard]] std::string to_string(Calibration calibration);

/// The units whose labels are permuted.
enum class Permute {
  automatic,  ///< groups where the method can and both samples together have above 100,000 rows or 10^8 numbers
  rows,       ///< single rows
  groups,     ///< groups of equally many rows, assigned at random: exact as well, at a cost that hardly grows with rows
};

/// Reads "auto", "rows" or "groups".
[[nodiscard]] Permute parse_permute(std::string_view text);
[[nodiscard]] std::string to_string(Permute permute);

/// Options of two_sample_test(). The defaults suit most data.
struct TwoSampleOptions {
  std::string method = {};       ///< id in the registry; empty: default_test_method(statistic)
  MethodOptions statistic = {};  ///< its seed and threads hold for the whole test
  TestOptions test = {};         ///< its seed and threads are taken from `statistic`
  Calibration calibration = Calibration::permutation;
  /// Groups need an independent design without weights, and a method with MethodInfo::groups.
  Permute permute = Permute::automatic;
  /// How rows are assigned to groups. By keys or in blocks, groups are permuted however many rows there are.
  GroupRule groups = {};
  /// Of the rows of X, then of Y, unless they are assigned at random: keys, or ranks within their sample.
  std::vector<std::uint64_t> group_keys = {};
  WeightsAs weights_as = WeightsAs::checked;
  /// Tests with MethodUses::own_scales, such as the adaptive one, measure every column from its pooled median in units
  /// of its pooled scale: units of columns do not matter. False for images and other rows whose columns have one unit.
  bool own_scales = true;
  bool set_aside = true;         ///< reference points taken from the pool are held out of the samples
  bool effect_interval = false;  ///< an interval for the effect size, by half-samples: 199 more evaluations
  /// Of the adaptive test: per_direction and directions of the e-KQD that its effect size comes from, else empty.
  bool effect_directions = false;
  MarginOptions margin = {};  ///< judges the size of the difference as well; never changes the p-value
};

/// The method of a test that names none: "adaptive", or "ekqd" when `statistic` sets an option that only a method with
/// one statistic uses (directions, reference points, coefficients, power, weighting, compat flags) to another value
/// than its default. The outputs that are asked for (intervals, profiles, the null distribution) never matter. All
/// front ends follow this rule.
[[nodiscard]] std::string_view default_test_method(const MethodOptions& statistic);

/// One of the component statistics of a test that combines several.
struct Configuration {
  std::string name;
  double statistic = 0.0;
  double score = 0.0;            ///< how extreme the statistic is among permutations, as a standard normal deviate
  double pvalue = 1.0;           ///< of this statistic by itself
  double adjusted_pvalue = 1.0;  ///< family-wise over all configurations (step-down), when the distributions are equal
  /// Of the largest over columns or pairs of columns, if the test rejects: that column or pair, "income by plan".
  std::string where = {};
};

/// The groups of rows that a test permuted.
struct PermutedGroups {
  std::size_t rows_per_group = 0;  ///< on average, where groups differ in size
  std::size_t num_x = 0;           ///< groups of X
  std::size_t num_y = 0;
  GroupRule rule = {};
};

/// The outcome of two_sample_test() with the settings that were used.
struct TwoSampleResult {
  std::string method;  ///< id of the method that was used
  TestOutcome test;    ///< statistic, p-value, interval, decision, null distribution
  /// (statistic - its permutation mean) / pooled scale of the same directions: near 0 when the samples are alike
  /// whatever their size, about Cohen's d for a shift along a single direction.
  double effect_size = 0.0;
  std::optional<Interval> effect_interval;   ///< at TestOptions::confidence; claimed away from the null hypothesis only
  std::optional<DifferenceSize> difference;  ///< with a margin: then the effect size and its interval are of this
  std::optional<MarginResult> margin;        ///< the effect judged by the margin
  std::vector<double> per_direction;         ///< observed tau_p(u_i); empty for methods without directions
  KernelSpec kernel;                         ///< with the bandwidths that were used
  bool own_scales = false;  ///< the statistics saw every column in its own scale; the effect size as it was given
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  std::size_t num_set_aside = 0;                 ///< rows that were held out
  std::optional<PermutedGroups> groups;          ///< the groups that were permuted; unset: rows were
  std::shared_ptr<const Directions> directions;  ///< the functions behind per_direction; null where that is empty
  std::vector<Configuration> configurations;     ///< of a test that aggregates several; else empty
  std::string limiting_distribution;  ///< asymptotic calibration: the distribution that the p-value comes from
  std::vector<Detail> details;        ///< numbers that only this method reports
  Warnings notes;                     ///< how weights and cluster sizes were handled
  Warnings warnings;
};

/// Are x and y from the same distribution? A permutation test of any method of the registry, exact for any sizes: the
/// statistic is prepared once on the unlabelled pool, in an order that does not depend on the labels, and evaluated for
/// the observed and for random permutations (docs/design/0003-validity.md).
///
/// TwoSampleOptions::weights_as decides how row weights are exchanged; by default a row and its weight move together,
/// after a check that the weights of both samples look alike. Rows of weight 0 are dropped first. Clusters change
/// labels with clusters of their own size; where that leaves too few permutations, they are reduced to common sizes.
/// Large samples are permuted in groups of rows (TwoSampleOptions::permute, docs/design/0009-groups.md): bandwidths,
/// directions and grids then come from at most 50,000 rows of the unlabelled pool, and quantiles are compared on a
/// grid. Same result for any number of threads, and for any order of the rows within a sample when the design is
/// independent, except for methods that fit on a part of the rows, which is drawn by position. Throws
/// Error{invalid_option, shape_mismatch, empty_sample, non_finite_value, invalid_weights, degenerate_directions,
/// resource_limit, interrupted}.
[[nodiscard]] TwoSampleResult two_sample_test(const SampleView& x, const SampleView& y,
                                              const TwoSampleOptions& options = {},
                                              const RunControl* control = nullptr);

}  // namespace kqd
