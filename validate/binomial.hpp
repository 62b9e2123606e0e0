#pragma once
#include <cstddef>

namespace kqd::validation {

/// Numbers of successes that are no surprise; both ends belong to it.
struct Band {
  std::size_t lowest = 0;
  std::size_t highest = 0;

  [[nodiscard]] bool holds(std::size_t count) const { return lowest <= count && count <= highest; }
};

/// The shortest band from below and from above such that Binomial(runs, rate) leaves it on either side with a
/// probability below false_alarm / 2. 0 <= rate <= 1.
[[nodiscard]] Band binomial_band(std::size_t runs, double rate, double false_alarm);

/// What a rate was measured from.
struct Count {
  std::size_t successes = 0;
  std::size_t runs = 0;

  [[nodiscard]] double rate() const { return static_cast<double>(successes) / static_cast<double>(runs); }
};

/// The difference of two rates in units of its standard error under one common rate: unlike the standard error of each
/// rate alone it does not vanish when one of them is 0 or 1. 0 when both are 0 or both are 1.
[[nodiscard]] double standardised_difference(Count a, Count b);

}  // namespace kqd::validation
