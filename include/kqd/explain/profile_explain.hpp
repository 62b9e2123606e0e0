#pragma once
#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/profile/profile.hpp"

namespace kqd KQD_PUBLIC {

/// Explains where the samples of two profiles differ, as far as that needs no rows: in which columns and along which
/// principal directions of the kernel, by how much, and at which quantile levels. Statistics and adjustments are those
/// of explain() of samples, from counts on the grids of the spec, with permutations of groups; no direction stops
/// early. There are no densities, sensitivities, extreme rows and scatter plot.
///
/// Of the options it reads num_permutations (0: 999, or as many as one adjusted p-value needs, up to 9999), alpha, seed
/// and threads. Throws what two_sample_test() of profiles throws.
[[nodiscard]] Explanation explain(const Profile& x, const Profile& y, const ExplainOptions& options = {},
                                  const RunControl* control = nullptr);

}  // namespace kqd
