#pragma once
#include <string>

#include "flags.hpp"

namespace kqd::app {

/// `kqd distance X Y`: prints the discrepancy; returns the exit code.
int run_distance(const Flags& flags);

/// `kqd methods [ID]`: the table of methods, or one of them explained.
int run_methods(const std::string& id);

}  // namespace kqd::app
