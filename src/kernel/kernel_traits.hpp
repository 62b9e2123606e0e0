#pragma once
#include <algorithm>
#include <string_view>

#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// What to do when a kernel value, or a distance, is beyond the largest double.
inline constexpr std::string_view kOverflowAdvice = "rescale the columns or take a bounded kernel";

/// The least bandwidth, and 1 over the largest: beyond, it or its square leaves the range of numbers, and kernel values
/// would be none.
[[nodiscard]] constexpr double smallest_bandwidth(KernelFamily family) {
  const bool squared = family == KernelFamily::gaussian || family == KernelFamily::rq || family == KernelFamily::imq;
  return squared ? 1e-150 : 1e-300;
}

[[nodiscard]] constexpr bool is_composite(KernelFamily family) {
  return family == KernelFamily::sum || family == KernelFamily::product;
}

/// Families of a distance divided by a scale; they are the shift-invariant ones.
[[nodiscard]] constexpr bool has_bandwidth(KernelFamily family) {
  switch (family) {
    case KernelFamily::gaussian:
    case KernelFamily::laplace:
    case KernelFamily::matern12:
    case KernelFamily::matern32:
    case KernelFamily::matern52:
    case KernelFamily::rq:
    case KernelFamily::imq:
      return true;
    default:
      return false;
  }
}

/// True when what the text does not spell, origins and functions, is the same at the same place of two specifications.
[[nodiscard]] inline bool same_unspelt(const KernelSpec& a, const KernelSpec& b) {
  if (a.family == KernelFamily::energy) return a.origin == b.origin;
  if (a.family == KernelFamily::custom) return a.function == b.function;
  return std::ranges::equal(a.parts, b.parts, same_unspelt);
}

/// True when two specifications mean the same kernel, and so the same space.
[[nodiscard]] inline bool same_kernel(const KernelSpec& a, const KernelSpec& b) {
  return to_string(a) == to_string(b) && same_unspelt(a, b);
}

}  // namespace kqd
