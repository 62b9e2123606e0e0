#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo sinkhorn_method();

}  // namespace kqd
