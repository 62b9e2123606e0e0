#pragma once
#include "kqd/kernel/kernel.hpp"

namespace kqd {

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

}  // namespace kqd
