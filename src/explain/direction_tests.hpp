#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "explain/gap_shape.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"
#include "kqd/testing/permutations.hpp"

namespace kqd {

/// Directions that know no labels, as what the pooled rows look like along them.
struct DirectionFamilyView {
  std::size_t count = 0;
  /// Projections of the pooled rows on directions first .. first + count - 1, one row each.
  std::function<Matrix<double>(std::size_t first, std::size_t count)> project;
};

/// What came out along one direction.
struct TestedDirection {
  GapShape shape;
  double score = 0.0;        ///< of the observed permutation, about 1 by chance: what the p-value counts exceedances of
  double pvalue = 1.0;       ///< for itself
  ProjectedDensity density;  ///< of the `num_shown` that stand out most
};

/// Directions, the most telling first: by p-value, and where that is the same by how far beyond chance the gap is.
[[nodiscard]] std::vector<std::size_t> ranked(std::span<const TestedDirection> directions);

struct DirectionTests {
  std::vector<TestedDirection> directions;
  std::uint64_t n_resamples = 0;  ///< permutations at most, or all of them
  bool enumerated = false;
};

struct DirectionTestOptions {
  std::uint64_t num_permutations = 999;
  std::size_t num_shown = 0;
  std::vector<double> weights = {};  ///< per position, empty: equal
  bool bound_rows = false;           ///< labels are not exchanged freely: pairs, blocks, clusters
  std::size_t max_bytes = 0;         ///< of projections held at a time
  ThreadCount threads = {};
};

/// Tests every direction by the same permutations, each for itself.
///
/// The score of a permutation is the largest of tau_1 and of 0.8 times its parts in the lowest and the highest tenth of
/// the pool, each over its average under permutation (with pairs, blocks or clusters over that of 64 permutations that
/// take no part in the test): a change of a tail only drowns in the whole. (0.8 brings their
/// upper percentiles together.) A direction is left after 100 exceedances: its p-value is then known to a tenth of
/// itself, and valid [BC91]. So what shows nothing costs about 500 permutations, however many are asked for.
/// Same result for any number of threads and any bound on memory.
[[nodiscard]] DirectionTests test_directions(const DirectionFamilyView& family, const PermutationSource& source,
                                             const DirectionTestOptions& options, const RunControl* control);

}  // namespace kqd
