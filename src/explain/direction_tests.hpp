#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "explain/gap_shape.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"
#include "kqd/testing/permutations.hpp"
#include "testing/permutation_run.hpp"
#include "testing/sequential.hpp"

namespace kqd {

/// Directions that do not depend on the labels, given by the projections of the pooled rows.
struct DirectionFamilyView {
  std::size_t count = 0;
  /// Projections of the pooled rows on directions first .. first + count - 1, one row each.
  std::function<Matrix<double>(std::size_t first, std::size_t count)> project;
  /// The positions that have a value in a direction, ascending; empty: all of them. The others do not enter its test.
  std::function<std::vector<std::uint32_t>(std::size_t direction)> rows_with_value = {};
};

/// Result along one direction.
struct TestedDirection {
  GapShape shape;
  double score =
      0.0;  ///< of the observed labels; about 1 under the null hypothesis. The p-value counts its exceedances
  double pvalue = 1.0;       ///< not adjusted for the other directions
  ProjectedDensity density;  ///< only for the `num_shown` strongest directions, and the first `num_drawn` ones
};

/// Directions, strongest first: by p-value, then by score.
[[nodiscard]] std::vector<std::size_t> ranked(std::span<const TestedDirection> directions);

struct DirectionTests {
  std::vector<TestedDirection> directions;
  std::uint64_t n_resamples = 0;  ///< permutations at most, or all of them
  bool enumerated = false;
};

/// Options of test_directions().
struct DirectionTestOptions {
  std::uint64_t num_permutations = 999;
  std::size_t num_shown = 0;
  std::size_t num_drawn = 0;         ///< the first directions, which have a density in any case
  std::vector<double> weights = {};  ///< per position, empty: equal
  bool restricted = false;           ///< the design restricts permutations: pairs, blocks, clusters
  std::size_t max_bytes = 0;         ///< of projections held at a time
  ThreadCount threads = {};
};

/// The permutations of such tests, the observed one first.
[[nodiscard]] PermutationRun direction_permutations(const PermutationSource& source,
                                                    const DirectionTestOptions& options);
/// Their rule of stopping: after 100 exceedances, or never if all permutations are enumerated.
[[nodiscard]] std::unique_ptr<SequentialTest> direction_stopping(const PermutationRun& run);

/// Tests every direction separately, all with the same permutations.
///
/// The score of a permutation is the maximum of tau_1 and of 0.8 times its parts in the lowest and highest tenth of the
/// pool, each divided by its mean under permutation (with pairs, blocks or clusters: its mean over 64 permutations that
/// the test does not use). The parts are there because tau_1 hardly reacts to a change in one tail; the factor 0.8
/// aligns their upper percentiles with those of tau_1. A direction stops after 100 exceedances: its p-value then has a
/// relative error of a tenth, and is valid [BC91]. A direction without a difference thus costs about 500 permutations.
/// Same result for any number of threads and any bound on memory.
[[nodiscard]] DirectionTests test_directions(const DirectionFamilyView& family, const PermutationSource& source,
                                             const DirectionTestOptions& options, const RunControl* control);

}  // namespace kqd
