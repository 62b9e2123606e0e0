#pragma once
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// Input of a command that compares samples.
struct Request {
  std::vector<std::string> files;  ///< X and Y, one file with both, or those of a matrix
  Settings settings;
  NamedSettings given;       ///< options that were set by flags or a config file
  std::string command_line;  ///< as a shell takes it
};

/// `kqd test X Y`: prints the report; returns the exit code (1 for a difference only with --exit-code).
int run_test(const Request& request);

/// `kqd explain X Y`: prints which columns, levels, directions and rows differ.
int run_explain(const Request& request);

/// `kqd distance X Y`: prints the discrepancy.
int run_distance(const Request& request);

/// `kqd matrix A B C ...`: prints the distances of all pairs, tested or not.
int run_matrix(const Request& request);

}  // namespace kqd::app
