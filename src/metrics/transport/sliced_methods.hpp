#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

MethodInfo sw_method();
MethodInfo max_sw_method();

}  // namespace kqd
