#pragma once
#include <cstddef>

namespace kqd::validation {

/// Accepted numbers of successes, both ends included.
struct Band {
  std::size_t lowest = 0;
  std::size_t highest = 0;

  [[nodiscard]] bool holds(std::size_t count) const { return lowest <= count && count <= highest; }
};

/// The shortest band that Binomial(runs, rate) leaves on each side with a probability below false_alarm / 2.
/// 0 <= rate <= 1.
[[nodiscard]] Band binomial_band(std::size_t runs, double rate, double false_alarm);

}  // namespace kqd::validation
