#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

/// k^2, the kernel whose mean embedding is the uncentered covariance embedding.
[[nodiscard]] KernelSpec squared_kernel(const KernelSpec& kernel);

[[nodiscard]] MethodInfo kce_method();

}  // namespace kqd
