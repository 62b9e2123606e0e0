#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo mmd_lin_method();
[[nodiscard]] MethodInfo mmd_multi_method();
[[nodiscard]] MethodInfo mmd_block_method();

}  // namespace kqd
