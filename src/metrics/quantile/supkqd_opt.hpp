#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

MethodInfo supkqd_opt_method();

}  // namespace kqd
