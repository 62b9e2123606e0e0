#pragma once
#include "run.hpp"

namespace kqd::app {

/// `kqd embed A B ...`: prints or writes the quantiles of data sets along shared directions, or the kernel between
/// them.
int run_embed(const Request& request);

}  // namespace kqd::app
