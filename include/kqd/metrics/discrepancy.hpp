#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/parameters.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/kernel/bandwidth.hpp"
#include "kqd/kernel/kernel.hpp"
#include "kqd/metrics/embedding.hpp"
#include "kqd/quantiles/level_weights.hpp"

namespace kqd KQD_PUBLIC {

/// What a caller of a kernel quantile discrepancy may choose. All defaults are usable as they stand.
struct MethodOptions {
  KernelSpec kernel = {};                                ///< Gaussian
  BandwidthRule bandwidth_rule = BandwidthRule::median;  ///< for bandwidths that the kernel leaves open
  DirectionOptions directions = {};
  double power = 1.0;                   ///< p >= 1, infinity included
  LevelWeights weighting = {};          ///< nu, the measure over quantile levels
  bool point_evaluated_levels = false;  ///< nu by its density at (j-1)/(n-1), as the authors' code; needs nx = ny
  Seed seed{0};
  ThreadCount threads{0};
  bool allow_quadratic = false;  ///< centered forms cost O(N^2): refused above some minutes unless allowed
  /// Bytes that may be held next to the samples, 0: the method's own bound. Changes the speed, not the result. Labels
  /// and methods that look along directions, centered forms excepted, keep to it as far as one direction at a time
  /// goes; the adaptive test refuses a bound that is too small for it.
  std::size_t max_memory = 0;
  Parameters parameters = {};  ///< what the method takes besides, by name (MethodInfo::parameters)
};

/// Something a method has to say of its own: ("epsilon", 0.05), ("converged", 1).
struct Detail {
  std::string name;
  double value = 0.0;
};

/// What came out, and what is needed to judge it.
struct DistanceResult {
  double statistic = 0.0;        ///< the discrepancy, a root: in the units of the directions' values
  double statistic_power = 0.0;  ///< its p-th power, at most the largest double (p = infinity: the statistic itself)
  std::optional<double> standard_error;  ///< Monte Carlo error over directions (means only); silent about the data
  std::vector<double> per_direction;     ///< tau_p(u_i), rooted
  std::optional<double> mmd_squared;     ///< MMD_V^2, when a centered form needed it
  KernelSpec kernel;                     ///< with the bandwidths that were used
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  std::shared_ptr<const Directions> directions;  ///< the functions behind per_direction; null: of no use elsewhere
  std::vector<Detail> details;
  Warnings warnings;
};

/// Throws Error{invalid_option} with field, value and bound: "MethodOptions::power = 0.5, needs >= 1".
void validate(const MethodOptions& options);

/// Expected kernel quantile discrepancy e-KQD_p = (mean_i tau_p^p(u_i))^(1/p) [KQE eq. 9].
///
/// Samples of unequal size or weight are compared on the merged grid of their levels: no point is dropped. As p grows
/// the mean becomes a maximum, so at p = infinity this is sup-KQD.
/// Cost: O(l N m + l N log N) time for l directions and m reference points; memory is bounded by working on as many
/// directions at a time as fit into 1.5 times the input's size (at least 256 MB).
/// Throws Error{invalid_option, shape_mismatch, empty_sample, non_finite_value, invalid_weights,
/// degenerate_directions}.
[[nodiscard]] DistanceResult ekqd(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// Supremum over the drawn directions, sup-KQD_p = max_i tau_p(u_i) [KQE eq. 10].
[[nodiscard]] DistanceResult supkqd(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// e-KQD of the centered embeddings: |q_P - q_Q| becomes sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2) [KQE Prop. 3].
/// Cost: O(N^2 d) on top.
[[nodiscard]] DistanceResult ekqd_centered(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// sup-KQD of the centered embeddings.
[[nodiscard]] DistanceResult supkqd_centered(const SampleView& x, const SampleView& y,
                                             const MethodOptions& options = {});

/// e-KQD between embeddings that share their directions: nothing is projected or sorted again. Of the options only
/// power, weighting, point_evaluated_levels and threads matter.
[[nodiscard]] DistanceResult ekqd(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                                  const MethodOptions& options = {});

/// One thing that the authors' code does differently from the paper, offered for comparison.
struct CompatFlag {
  std::string_view name;  ///< as in --compat
  std::string_view description;
  void (*apply)(MethodOptions& options);
  bool (*is_on)(const MethodOptions& options);  ///< extra-direction shows in the number of directions only: false
};

/// extra-direction, point-levels, jitter, unnormalised, median-diagonal, zero-centred.
[[nodiscard]] std::span<const CompatFlag> compat_flags();

/// Applies a comma-separated list of compat flags to the options; throws Error{invalid_option} for an unknown one.
void apply_compat(std::string_view list, MethodOptions& options);

}  // namespace kqd
