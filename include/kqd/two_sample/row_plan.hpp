#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Options of plan_rows().
struct RowPlanOptions {
  double effect = 0.1;  ///< of DifferenceSize: in a normal column, a shift by this many standard deviations
  double power = 0.9;
  double alpha = 0.05;
  std::size_t runs = 100;           ///< simulated pairs of samples for each number of rows
  std::size_t most_rows = 100'000;  ///< of a sample
  std::int64_t num_permutations = 199;
  Seed seed = {};
  ThreadCount threads = {};
};

/// Shares of simulated pairs, with n rows in each sample.
struct RowPlanPoint {
  std::size_t rows = 0;
  double test = 0.0;         ///< in which the default test rejects, one column being shifted by the effect
  double equivalence = 0.0;  ///< that are called equivalent within a margin of the effect, nothing being shifted
};

/// How many rows are needed.
struct RowPlan {
  std::vector<RowPlanPoint> points;        ///< ascending
  std::optional<std::size_t> test;         ///< rows of each sample for the power of the default test; unset: too many
  std::optional<std::size_t> equivalence;  ///< likewise, for a verdict of equivalence
};

/// Draws pairs of samples from the pilot, rows with replacement, for 50, 100, 200, ... rows until both powers are
/// reached, and interpolates. Each run moves the values of another column to higher ranks, so that it has the effect;
/// the values stay those of the column. Their standard error is sqrt(p (1 - p) / runs). Throws
/// Error{invalid_option, empty_sample}.
[[nodiscard]] RowPlan plan_rows(const SampleView& pilot, const RowPlanOptions& options = {},
                                const RunControl* control = nullptr);

/// A pilot of normal columns that do not depend on each other, where there are no data yet.
[[nodiscard]] Sample normal_pilot(std::size_t dim, Seed seed = {});

}  // namespace kqd
