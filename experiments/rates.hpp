#pragma once
#include <cstddef>
#include <span>

#include "kqd/testing/pvalue.hpp"

namespace kqd {

/// Number of successes among a number of runs.
struct Count {
  std::size_t successes = 0;
  std::size_t runs = 0;

  [[nodiscard]] double rate() const { return static_cast<double>(successes) / static_cast<double>(runs); }
};

/// Wilson's 95% confidence interval of a probability [Wil27]: inside [0, 1], and of positive width even if all or none
/// of the runs succeeded. Needs at least one run.
[[nodiscard]] Interval wilson_interval(Count count);

/// The difference of two rates divided by its standard error under a common rate, which is positive even if one rate is
/// 0 or 1. 0 if both rates are 0 or both are 1.
[[nodiscard]] double standardised_difference(Count a, Count b);

/// Two counts that should have the same probability.
struct CountPair {
  Count first;
  Count second;
};

/// A chi-square test that the counts of each pair have the same probability: the sum of squared standardised
/// differences, with one degree of freedom per pair. Pairs whose rates are both 0 or both 1 carry no information and
/// are skipped.
struct ChiSquare {
  double statistic = 0.0;
  std::size_t degrees = 0;
  double pvalue = 1.0;
};
[[nodiscard]] ChiSquare chi_square(std::span<const CountPair> pairs);

/// The size of an error at a sample size or number of directions, with its standard error.
struct SizedError {
  double size = 0.0;
  double error = 0.0;
  double standard_error = 0.0;
};

/// The root mean square of repeated errors. Its standard error follows from the spread of their squares. Needs two
/// errors that are not all 0.
[[nodiscard]] SizedError root_mean_square(double size, std::span<const double> errors);

/// error = factor * size^slope.
struct PowerLaw {
  double slope = 0.0;
  double standard_error = 0.0;  ///< of the slope, from those of the errors
  double factor = 0.0;
};

/// The line of least squares through the logarithms. Needs two sizes and positive errors.
[[nodiscard]] PowerLaw fit_power_law(std::span<const SizedError> errors);

}  // namespace kqd
