#pragma once
#include <string>

#include "experiments/study.hpp"
#include "kqd/core/types.hpp"

namespace kqd::lab {

/// What the choice of a user leaves open in a study.
struct StudyRequest {
  std::string scheme;  ///< one of the experiment's; empty where it has none
  bool quick = false;  ///< few columns and runs
  std::string data;    ///< folder of data sets
};

/// J1 of the paper: N(0, I_d) against N(0, diag(4, 4, 4, 1, ..)), n = 200.
[[nodiscard]] Study power_decay(const StudyRequest& request);
/// J2: Laplace against normal laws of the same variance, cubic kernel.
[[nodiscard]] Study laplace_gaussian(const StudyRequest& request);

/// Columns without their middle ones, and few runs: what --quick runs.
void make_quick(Study& study);

}  // namespace kqd::lab
