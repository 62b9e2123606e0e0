#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/types.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"

namespace kqd {

/// A clusters design in which enough clusters of X and Y have the same size.
struct ClusterSizes {
  std::vector<std::size_t> rows;  ///< of (X, Y) that stay, ascending; empty: all
  Warnings notes;                 ///< how sizes that differ were treated
};

/// Clusters exchange labels with clusters of their own size only. Where the sizes are such that this leaves too few
/// permutations, or most clusters of a sample without a partner, clusters are reduced to a common set of sizes by
/// random draws from their rows: to powers of two if that is enough, else all to the smallest. The choice depends on
/// the sizes and labels of the clusters and not on the values of rows, so the test is exact given the sizes, as long as
/// the rows of a cluster are exchangeable.
[[nodiscard]] ClusterSizes common_cluster_sizes(const Design& design, SampleSizes sizes, Seed seed);

}  // namespace kqd
