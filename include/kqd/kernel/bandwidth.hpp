#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd KQD_PUBLIC {

/// Rules for a bandwidth from the unlabelled pool.
enum class BandwidthRule {
  median,                ///< median over the pairs i < j of pooled points
  median_with_diagonal,  ///< over all N^2 ordered pairs, i = j included, as in the authors' code
};

/// Returns the kernel with every missing bandwidth and origin filled in from the pool of x and y, label-blind.
///
/// Gaussian: s = sqrt(median(r^2) / 2), so that k = exp(-r^2 / median r^2). Laplace: s = median r1. Matern, rq, imq:
/// s = median r. Above 1000 pooled points the median is that of a random subsample of 1000 of them. When more than half
/// of the distances are 0, the median of the others is taken; when all are, s = 1 with a warning. A custom kernel is
/// tried on a few points, and refused when it is not symmetric there or k(x, x) < 0.
[[nodiscard]] KernelSpec resolve(const KernelSpec& spec, const SampleView& x, const SampleView& y, BandwidthRule rule,
                                 Seed seed, Warnings& warnings);

/// The distance that a bandwidth is a scale of.
enum class DistanceKind { euclidean, l1 };

/// Ascending pairwise distances between pooled points (of the same subsample as above), for grids of
/// bandwidths.
[[nodiscard]] std::vector<double> pooled_distances(const SampleView& x, const SampleView& y, DistanceKind kind,
                                                   Seed seed);

/// The grid of [Schrab et al. 2023]: `count` values, geometric from lo/2 to 2 hi, where lo is the smallest distance (or
/// max(5th percentile, 0.1) when that is below 0.1) and hi the larger of the largest distance and 0.3.
[[nodiscard]] std::vector<double> geometric_bandwidth_grid(const std::vector<double>& sorted_distances,
                                                           std::size_t count);

/// The grid of [Biggs et al. 2023]: `count` values, linear from half the 5th to twice the 95th percentile.
[[nodiscard]] std::vector<double> quantile_bandwidth_grid(const std::vector<double>& sorted_distances,
                                                          std::size_t count);

}  // namespace kqd
