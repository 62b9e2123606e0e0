#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo me_method();
[[nodiscard]] MethodInfo scf_method();

}  // namespace kqd
