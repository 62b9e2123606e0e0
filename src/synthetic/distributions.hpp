#pragma once
#include <functional>
#include <span>

#include "core/random.hpp"
#include "synthetic/settings.hpp"

namespace kqd {

/// Draws one row from a stream of its own.
using RowDistribution = std::function<void(RandomStream&, std::span<double> row)>;

struct DistributionPair {
  RowDistribution x;
  RowDistribution y;
};

// One function per problem: from the settings to the distributions of a row of X and of Y. What is drawn once per run
// is drawn here; a drawn parameter replaces the one that asked for it. The formulas are in
// docs/guide/synthetic-problems.md.
[[nodiscard]] DistributionPair power_decay(ProblemSettings& settings);
[[nodiscard]] DistributionPair laplace_gaussian(ProblemSettings& settings);
[[nodiscard]] DistributionPair mixture(ProblemSettings& settings);
[[nodiscard]] DistributionPair perturbed_uniform(ProblemSettings& settings);
[[nodiscard]] DistributionPair blobs(ProblemSettings& settings);
[[nodiscard]] DistributionPair mean_shift(ProblemSettings& settings);
[[nodiscard]] DistributionPair same_distribution(ProblemSettings& settings);
[[nodiscard]] DistributionPair spiked_covariance(ProblemSettings& settings);
[[nodiscard]] DistributionPair equicorrelation(ProblemSettings& settings);
[[nodiscard]] DistributionPair ar_correlation(ProblemSettings& settings);
[[nodiscard]] DistributionPair spheres(ProblemSettings& settings);
[[nodiscard]] DistributionPair thin_cube(ProblemSettings& settings);
[[nodiscard]] DistributionPair two_clusters(ProblemSettings& settings);
[[nodiscard]] DistributionPair normal_scale(ProblemSettings& settings);
[[nodiscard]] DistributionPair scaled_t(ProblemSettings& settings);
[[nodiscard]] DistributionPair hdgm(ProblemSettings& settings);
[[nodiscard]] DistributionPair mixed_table(ProblemSettings& settings);

}  // namespace kqd
