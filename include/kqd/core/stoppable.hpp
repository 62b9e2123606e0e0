#pragma once
#include <functional>

#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Calls work() so that parts of the library that take no RunControl of their own, such as drawing directions or
/// embedding a sample, end soon after `control.stop` is set: by Error{interrupted}, out of this call.
void run_stoppable(const RunControl& control, const std::function<void()>& work);

}  // namespace kqd
