#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo mmd_nystrom_method();

}  // namespace kqd
