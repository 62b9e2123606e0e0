#pragma once
#include "run.hpp"

namespace kqd::app {

/// `kqd monitor BASELINE BATCH...`: tests each batch against the baseline, and continues a state file.
int run_monitor(const Request& request);

}  // namespace kqd::app
