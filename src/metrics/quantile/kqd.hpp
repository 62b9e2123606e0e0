#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// How the gaps tau_p(u_i) along the directions become one number: their power mean (e-KQD) or their maximum (sup-KQD).
enum class Over { mean, maximum };

/// Some of the directions, one after the other.
struct DirectionRange {
  std::size_t first;
  std::size_t count;
};

/// (mean_i tau_i^p)^(1/p) or max_i tau_i; scaled by the largest, so that no power leaves the range of doubles.
[[nodiscard]] double over_directions(Over over, std::span<const double> tau, double p);

/// over_directions() of all directions, of the first and of the second half of them.
struct HalvedStatistic {
  double all = 0.0;  ///< same bits as over_directions()
  std::array<double, 2> halves = {};
};
[[nodiscard]] HalvedStatistic over_halves(Over over, std::span<const double> tau, double p);

/// value^p, or the value itself for p = infinity; the largest number where a power is beyond it.
[[nodiscard]] double finite_power(double value, double p);

/// True when more than 95% of `total` values are equal: such a direction is "flat" and carries no information.
[[nodiscard]] bool is_mostly_one_value(std::size_t num_equal, std::size_t total);

/// The kernel that directions are functions of: their own (linear) one, or that of the options with its bandwidth from
/// the pool.
[[nodiscard]] KernelSpec kernel_of_directions(const MethodOptions& options, const Pool& pool, Warnings& warnings);

/// Throws Error{invalid_option} unless directions have norm 1, which centered discrepancies need.
void require_normalised_directions(const MethodOptions& options);

/// The discrepancy of checked samples along given directions; centered when the squared MMD_V is given.
void measure_along(DistanceResult& result, const Directions& directions, const SampleView& x, const SampleView& y,
                   const MethodOptions& options, Over over, std::optional<double> mmd_squared = std::nullopt);

/// Directions that serve many samples, and how the gaps along them become a distance.
struct SharedSlices {
  DrawnDirections drawn;
  Over over = Over::mean;
  Warnings warnings;
};

/// The directions of e-KQD and sup-KQD for a pool, with the kernel's bandwidth taken from it.
[[nodiscard]] SharedSlices draw_slices(const Pool& pool, const MethodOptions& options, Over over);

/// Distances between all pairs of some samples along the same directions.
struct PairwiseGaps {
  Matrix<double> distances;        ///< symmetric, 0 on the diagonal
  std::size_t num_flat_pairs = 0;  ///< pairs with a flat direction (is_mostly_one_value)
};

/// Every sample is projected and sorted once, whatever the number of pairs; the numbers are those of measure_along().
/// Memory as there, for all samples together. Samples are checked, of one dimension, without rows of weight 0.
/// `origin`: the point that linear directions measure from, any point amid the data.
/// Cost: O(l sum_i (n_i m + n_i log n_i) + l sum_{i<j} (n_i + n_j)).
[[nodiscard]] PairwiseGaps measure_all_pairs(const Directions& directions, std::span<const double> origin,
                                             std::span<const SampleView> samples, const MethodOptions& options,
                                             Over over, const RunControl* control = nullptr);

/// Prepares e-KQD (mean) or sup-KQD (maximum), centered or not. A reference point that is a pooled row is a spike of
/// its own direction: with `set_aside` it is held out of the samples, together with the rows that the design binds to
/// it. Throws Error{invalid_option} for the balanced reference measure, which depends on the labels.
[[nodiscard]] PreparedPlan prepare_kqd(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                                       Over over, bool centered);

/// Prepares e-KQD or sup-KQD along given directions, for the rows `rows` of (X, Y) in label-blind order. The directions
/// must not depend on the labels of those rows. `independent`: they are independent draws from one distribution.
[[nodiscard]] PreparedPlan prepare_along(std::shared_ptr<const Directions> directions, const TestPool& pool,
                                         std::vector<std::size_t> rows, const MethodOptions& options, Over over,
                                         bool independent);

/// The options with everything that was drawn from a pool made explicit: they give the same directions for other rows.
[[nodiscard]] MethodOptions freeze(const MethodOptions& options, const Directions& directions, bool centered);

}  // namespace kqd
