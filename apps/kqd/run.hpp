#pragma once
#include <string>

#include "flags.hpp"

namespace kqd::app {

/// `kqd test X Y`: prints the report; returns the exit code (1 for a difference only with --exit-code).
int run_test(const Flags& flags);

/// `kqd explain X Y`: prints which columns, levels, directions and rows differ.
int run_explain(const Flags& flags);

/// `kqd distance X Y`: prints the discrepancy.
int run_distance(const Flags& flags);

/// `kqd matrix A B C ...`: prints the distances of all pairs, tested or not.
int run_matrix(const MatrixFlags& flags);

/// `kqd methods [ID]`: the table of methods, or one of them explained.
int run_methods(const MethodsFlags& flags);

/// `kqd sample NAME`: writes two samples of known distributions, or lists them.
int run_sample(const SampleFlags& flags);

}  // namespace kqd::app
