#pragma once
#include <cstddef>
#include <span>

#include "kqd/testing/pvalue.hpp"

namespace kqd {

/// What a rate was measured from.
struct Count {
  std::size_t successes = 0;
  std::size_t runs = 0;

  [[nodiscard]] double rate() const { return static_cast<double>(successes) / static_cast<double>(runs); }
};

/// The 95 % interval of Wilson for the probability behind a count: inside [0, 1], and of a sensible width also when all
/// or none of the runs succeeded [Wil27]. At least one run.
[[nodiscard]] Interval wilson_interval(Count count);

/// The difference of two rates in units of its standard error under one common rate: unlike the standard error of each
/// rate only it does not vanish when one of them is 0 or 1. 0 when both are 0 or both are 1.
[[nodiscard]] double standardised_difference(Count a, Count b);

/// Two counts that should have one probability behind them.
struct CountPair {
  Count first;
  Count second;
};

/// Are all pairs as near as chance allows? The sum of their squared standardised differences, chi-square with a degree
/// of freedom per pair. Pairs that are both 0 or both 1 say nothing and are left out.
struct ChiSquare {
  double statistic = 0.0;
  std::size_t degrees = 0;
  double pvalue = 1.0;
};
[[nodiscard]] ChiSquare chi_square(std::span<const CountPair> pairs);

}  // namespace kqd
