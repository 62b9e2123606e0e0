#pragma once
#include "experiments/study.hpp"
#include "kqd/synthetic/problems.hpp"

namespace kqd::lab {

/// A column whose runs draw samples of a synthetic problem, each with the seed of its run instead of the request's.
[[nodiscard]] Column synthetic_column(double x, const ProblemRequest& problem, double work = 1.0);

/// The columns of the power decay problem: n = 200, d = 32, 64, .., 512.
[[nodiscard]] std::vector<Column> power_decay_columns();

}  // namespace kqd::lab
