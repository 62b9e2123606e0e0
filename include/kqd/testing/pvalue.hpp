#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Draws of the permutation distribution, compared with the observed value T_0.
struct Exceedances {
  std::uint64_t num_draws = 0;
  std::uint64_t num_exceed = 0;  ///< draws with T_b >= T_0, ties included
};

/// A closed interval.
struct Interval {
  double lower = 0.0;
  double upper = 1.0;
};

/// p = (1 + #{T_b >= T_0}) / (1 + B): the observed permutation is one of the equally likely ones, so p is never 0, and
/// P(p <= a) <= a under the null hypothesis, whatever the number of draws [PS10].
[[nodiscard]] double permutation_pvalue(Exceedances draws);

/// The same with ties broken by the uniform number `u`: (#{T_b > T_0} + u (1 + #{T_b = T_0})) / (1 + B) is exactly
/// uniform on (0, 1) under the null hypothesis.
[[nodiscard]] double randomised_pvalue(Exceedances draws, std::uint64_t num_tied, double u);

/// Clopper-Pearson interval for the p-value that all permutations would give, P(T_b >= T_0), from a number of draws
/// fixed in advance. Covers it with probability `confidence` or more; 0 < confidence < 1, at least one draw [CP34].
[[nodiscard]] Interval clopper_pearson(Exceedances draws, double confidence = 0.95);

/// An interval for the same quantity that stays valid when the draws were stopped because of their values: with
/// probability `confidence` or more, the intervals after 1, 2, 3, ... draws cover it all at once [Rob70].
[[nodiscard]] Interval anytime_interval(Exceedances draws, double confidence = 0.95);

/// p-values of several tests, adjusted for all of them: rejecting those that are <= alpha keeps the probability of any
/// false rejection at alpha or below, however the tests depend on each other [Hol79]. In the order given, at most 1.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> pvalues);

/// The same for another promise: among the tests rejected at alpha the expected share of false ones is at most alpha,
/// for p-values that are independent or depend on each other positively [BH95].
[[nodiscard]] std::vector<double> benjamini_hochberg_adjusted(std::span<const double> pvalues);

}  // namespace kqd
