#pragma once
#include <string>

#include "flags.hpp"

namespace kqd::app {

/// `kqd test X Y`: prints the report; returns the exit code (1 for a difference only with --exit-code).
int run_test(const Flags& flags);

/// `kqd distance X Y`: prints the discrepancy.
int run_distance(const Flags& flags);

/// `kqd methods [ID]`: the table of methods, or one of them explained.
int run_methods(const std::string& id);

/// `kqd sample NAME`: writes two samples of known laws, or lists them.
int run_sample(const SampleFlags& flags);

}  // namespace kqd::app
