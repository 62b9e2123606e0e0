#pragma once
#include "kqd/metrics/methods.hpp"

namespace kqd {

MethodInfo gsw_method();
MethodInfo max_gsw_method();

}  // namespace kqd
