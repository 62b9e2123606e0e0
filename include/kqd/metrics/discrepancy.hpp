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

/// Options that the methods share; MethodInfo::uses says which of them a method reads. The defaults suit most data.
struct MethodOptions {
  KernelSpec kernel = {};                                ///< Gaussian
  BandwidthRule bandwidth_rule = BandwidthRule::median;  ///< for bandwidths that the kernel leaves open
  DirectionOptions directions = {};
  double power = 1.0;                   ///< p >= 1, infinity included
  LevelWeights weighting = {};          ///< nu, the measure over quantile levels
  bool point_evaluated_levels = false;  ///< nu by its density at (j-1)/(n-1), as the authors' code; needs nx = ny
  Seed seed{0};
  ThreadCount threads{0};
  bool allow_quadratic = false;  ///< run methods of cost O(N^2) and more also where that takes many minutes
  /// Bytes besides the samples, 0: the method's own bound. Changes the speed, not the result (see files_in_blocks()).
  /// Labels and methods that look along directions, except centered forms, keep to it, down to one direction at a
  /// time; the adaptive test refuses a bound that is too small for it.
  std::size_t max_memory = 0;
  Parameters parameters = {};  ///< the method's own parameters by name (MethodInfo::parameters)
  /// Point that the window of scf is centered at, one number per column; empty: the mean of the pooled rows. A test
  /// makes it explicit, so that its settings give the same features for other rows.
  std::vector<double> window_origin = {};
};

/// A number that only some methods report: ("epsilon", 0.05), ("converged", 1), ("mmd_squared", 0.8).
struct Detail {
  std::string name;
  double value = 0.0;
};

/// The detail with this name, if a method reported it.
[[nodiscard]] std::optional<double> find_detail(const std::vector<Detail>& details, std::string_view name);

/// The distance between two samples, with the settings that were used and its Monte Carlo error.
struct DistanceResult {
  double statistic = 0.0;        ///< the discrepancy, a root: in the units of the directions' values
  double statistic_power = 0.0;  ///< its p-th power, at most the largest double (p = infinity: the statistic itself)
  std::optional<double> standard_error;  ///< Monte Carlo error over directions (means only), not of the data
  std::vector<double> per_direction;     ///< tau_p(u_i), rooted
  KernelSpec kernel;                     ///< with the bandwidths that were used
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  std::shared_ptr<const Directions> directions;  ///< the functions behind per_direction; null where it is empty
  std::vector<Detail> details;
  Warnings warnings;
};

/// Throws Error{invalid_option} with option, value and bound: "power = 0.5: expected a number >= 1".
void validate(const MethodOptions& options);

/// Expected kernel quantile discrepancy e-KQD_p = (mean_i tau_p^p(u_i))^(1/p) [KQE eq. 4].
///
/// Samples of unequal size or weight are compared on the merged grid of their levels: no point is dropped. As p grows
/// the mean becomes a maximum, so at p = infinity this is sup-KQD.
/// Cost: O(l N m + l N log N) time for l directions and m reference points; memory is bounded by working on as many
/// directions at a time as fit into 1.5 times the input's size (at least 256 MB).
/// Throws Error{invalid_option, shape_mismatch, empty_sample, non_finite_value, invalid_weights,
/// degenerate_directions}.
[[nodiscard]] DistanceResult ekqd(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// Supremum over the drawn directions, sup-KQD_p = max_i tau_p(u_i) [KQE eq. 4].
[[nodiscard]] DistanceResult supkqd(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// e-KQD of the centered embeddings: |q_P - q_Q| becomes sqrt((q_P - q_Q)^2 - c_i^2 + MMD_V^2) [KQE Prop. 2].
/// Cost: O(N^2 d) on top.
[[nodiscard]] DistanceResult ekqd_centered(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// sup-KQD of the centered embeddings.
[[nodiscard]] DistanceResult supkqd_centered(const SampleView& x, const SampleView& y,
                                             const MethodOptions& options = {});

/// The same between embeddings that share their directions: nothing is projected or sorted again. Reads only the
/// options power, weighting, point_evaluated_levels and threads. Centered ones cost O(n_P n_Q d) on top and throw
/// Error{invalid_option} for directions that are not of norm 1.
[[nodiscard]] DistanceResult ekqd(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                                  const MethodOptions& options = {});
[[nodiscard]] DistanceResult supkqd(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                                    const MethodOptions& options = {});
[[nodiscard]] DistanceResult ekqd_centered(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                                           const MethodOptions& options = {});
[[nodiscard]] DistanceResult supkqd_centered(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q,
                                             const MethodOptions& options = {});

/// One of the four above by the id of the method: "ekqd", "supkqd", "ekqd-centered", "supkqd-centered".
[[nodiscard]] DistanceResult distance(std::string_view id, const KernelQuantileEmbedding& p,
                                      const KernelQuantileEmbedding& q, const MethodOptions& options = {});

/// A difference between the authors' code and the paper, available for comparison.
struct CompatFlag {
  std::string_view name;
  std::string_view description;
  void (*apply)(MethodOptions& options);
  bool (*is_on)(const MethodOptions& options);  ///< false for extra-direction, which only raises num_directions
};

/// extra-direction, point-levels, jitter, unnormalised, median-diagonal, zero-centred.
[[nodiscard]] std::span<const CompatFlag> compat_flags();

/// Applies a comma-separated list of compat flags to the options; throws Error{invalid_option} for an unknown one.
void apply_compat(std::string_view list, MethodOptions& options);

}  // namespace kqd
