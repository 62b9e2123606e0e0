#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo mmd_method();
[[nodiscard]] MethodInfo mmd_v_method();

}  // namespace kqd
