#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/plan.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"
#include "kqd/testing/permutations.hpp"

namespace kqd KQD_PUBLIC {

/// When to stop drawing permutations before all are drawn.
enum class EarlyStop {
  none,            ///< draw them all
  besag_clifford,  ///< stop at the exceedance that makes a rejection impossible; decides like `none` [BC91]
  betting,         ///< bet against the null hypothesis; stop when the wealth rejects it or is lost [FR24]
};

/// Reads "none", "besag-clifford" or "betting".
[[nodiscard]] EarlyStop parse_early_stop(std::string_view text);
[[nodiscard]] std::string to_string(EarlyStop rule);

/// Options of permutation_test(). The defaults suit most tests.
struct TestOptions {
  /// Random permutations besides the observed one (B in the p-value (1 + L)/(1 + B)), 1 .. 10^9.
  std::int64_t num_permutations = 999;
  /// Significance level, in (0, 1).
  double alpha = 0.05;
  /// Randomised ties use this seed and that of the PermutationSource, from which permutations are drawn.
  /// two_sample_test() makes the latter from its seed and the data, so that one seed serves many data sets.
  Seed seed = {};
  /// 0 asks the system. Changes the speed, not one bit of the result.
  ThreadCount threads = {};
  /// Has no effect when all permutations are enumerated.
  EarlyStop early_stop = EarlyStop::none;
  /// Breaks ties at random: the p-value is then exactly uniform under the null hypothesis, also for discrete data. That
  /// holds over data sets tested with one seed, unless few different ones are possible. Not with early stopping.
  bool randomised_ties = false;
  /// The permutations that are equally likely; two_sample_test() makes its PermutationSource from it.
  Design design = {};
  /// All permutations are enumerated when there are at most max(num_permutations, this); 0 never enumerates.
  std::uint64_t enumeration_limit = 20'000;
  /// Confidence of the interval for the p-value, in (0, 1).
  double confidence = 0.95;
  /// Bytes that labels may take at a time, 0: 256 MB. Changes the speed, not the result.
  std::size_t max_label_memory = 0;
  /// Returns the value of every permutation that was counted.
  bool keep_null_distribution = false;
};

/// The outcome of a permutation test.
struct TestOutcome {
  double statistic = 0.0;  ///< the observed value T_0, as the plan gives it
  double pvalue = 1.0;
  std::uint64_t n_exceed = 0;     ///< permutations with T >= T_0, ties included; the observed one only if enumerated
  std::uint64_t n_resamples = 0;  ///< random permutations counted, or all permutations if enumerated
  double pvalue_lower = 0.0;      ///< interval for the p-value all permutations would give (without randomised ties):
  double pvalue_upper = 1.0;      ///< the p-value itself if enumerated, anytime-valid with early stopping
  bool reject = false;            ///< pvalue <= alpha
  bool enumerated = false;        ///< all permutations were evaluated: the p-value has no Monte Carlo error
  bool stopped_early = false;     ///< fewer permutations were counted than asked for
  double permutation_mean = 0.0;  ///< mean of T over the counted permutations; over all permutations if enumerated
  double permutation_sd = 0.0;    ///< its standard deviation (divisor n - 1, or n if enumerated)
  /// P-values by either half of what the plan drew at random (Plan::has_halves), from the same permutations; not with
  /// early stopping or randomised ties. They show how much the draw matters, and decide nothing.
  std::optional<std::array<double, 2>> half_pvalues;
  std::vector<double> null_distribution;  ///< values in permutation order; the observed one first if enumerated
  Warnings warnings;
};

/// Throws Error{invalid_option} with option, value and bound: "alpha = 1.5: expected a number > 0 and < 1".
void validate(const TestOptions& options);

/// The permutation test of `plan`: T_0 for the observed permutation, T_b for random or all other permutations of
/// `source`.
///
/// Exact: P(reject) <= alpha under the null hypothesis, for any sizes, data and number of permutations, when the plan
/// keeps its promise (see Plan). Values within plan.tie_slack(T_0) of T_0 count as ties. Same result for any number of
/// threads. Early stopping counts permutations in their order, so it does not depend on how they were evaluated.
/// Memory: at most 256 MB of labels, or one batch of 8 bytes per row where that is more.
/// Throws Error{invalid_option, shape_mismatch, non_finite_value, interrupted}.
[[nodiscard]] TestOutcome permutation_test(const Plan& plan, const PermutationSource& source,
                                           const TestOptions& options = {}, const RunControl* control = nullptr);

}  // namespace kqd
