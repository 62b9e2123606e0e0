#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

/// MMD over a collection of kernels, by corrected quantiles [Sch23].
[[nodiscard]] MethodInfo mmd_agg_method();
/// MMD over a collection of kernels, by a soft maximum of normalised statistics [Big23].
[[nodiscard]] MethodInfo mmd_fuse_method();

}  // namespace kqd
