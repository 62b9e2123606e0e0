#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo kmedian_method();

}  // namespace kqd
