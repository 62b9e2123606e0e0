#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo energy_method();

}  // namespace kqd
