#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

[[nodiscard]] MethodInfo ekqd_method();
[[nodiscard]] MethodInfo ekqd_centered_method();
[[nodiscard]] MethodInfo supkqd_method();
[[nodiscard]] MethodInfo supkqd_centered_method();

}  // namespace kqd
