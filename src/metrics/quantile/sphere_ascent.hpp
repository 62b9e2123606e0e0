#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/types.hpp"
#include "metrics/quantile/gap_objective.hpp"

namespace kqd {

/// The end of an ascent.
struct Ascent {
  std::vector<double> direction;  ///< of length 1
  double value = 0.0;             ///< tau_p there: the largest that was met
  std::vector<double> history;    ///< the largest so far after every step; the first entry is the start's
};

/// Ascent on the unit sphere from `start` (of length 1) by L-BFGS with Armijo's rule for the step. A step is
/// taken only if tau rises, so the last point is the best. For p = 2 and linear slices, where the ascent stalls, a few
/// power iterations move towards the direction of largest spread under the present coupling; that step too is taken
/// only if tau rises.
[[nodiscard]] Ascent ascend(GapObjective& objective, std::vector<double> start, std::size_t max_steps);

struct SupremumOptions {
  std::size_t max_steps = 200;  ///< of one ascent
  std::size_t num_random = 4;   ///< random starts besides the informed ones
};

/// The largest tau_p that ascents from several starts found: a lower bound of the supremum over the sphere.
struct Supremum {
  std::vector<double> direction;
  double value = 0.0;
  std::size_t num_starts = 0;
  std::size_t num_optima = 0;  ///< different ends among them
  std::size_t num_steps = 0;   ///< of all ascents
};

/// Ascends from: the difference of the means (so that with uniform levels the result is at least the distance of the
/// mean embeddings), the directions in which the covariances of X and Y differ most, up and down, the best of 32 random
/// directions, and `num_random` further ones. Deterministic given the seed; same bits for any thread count.
[[nodiscard]] Supremum maximise_gap(const GapProblem& problem, Seed seed, const SupremumOptions& options,
                                    ThreadCount threads);

/// The largest standard deviation of the points along any direction of the linear slices.
[[nodiscard]] double largest_spread(const Slices& slices, Seed seed);

/// About what maximise_gap takes on one thread.
[[nodiscard]] double expected_seconds(const Slices& slices, const SupremumOptions& options);

}  // namespace kqd
