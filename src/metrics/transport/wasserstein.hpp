#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo wasserstein_method();

}  // namespace kqd
