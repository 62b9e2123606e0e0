#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Where a sequence of rows changes its mean: the most likely start of the later part, and all starts that the rows do
/// not rule out.
struct ChangePoint {
  std::size_t start = 0;                 ///< number of the first row after the change, from 0
  std::vector<std::size_t> likely = {};  ///< starts in the confidence set, ascending
  double confidence = 0.95;
  double pvalue = 1.0;  ///< of no change: the rows are exchangeable; by permutations of their order
};

/// The start is where the means of both parts are furthest apart for the sizes of the parts. A start belongs to the
/// confidence set unless the best start is better than it by more than in a share `confidence` of permutations of the
/// rows within both parts: exact if the rows of each part are exchangeable. At least two rows.
[[nodiscard]] ChangePoint change_point(MatrixView<const double> rows, double confidence = 0.95,
                                       ThreadCount threads = {});

/// The p-value by itself, of at least two rows.
[[nodiscard]] double change_pvalue(MatrixView<const double> rows);

/// The start of the later part by itself.
[[nodiscard]] std::size_t most_likely_start(MatrixView<const double> rows);

/// p-value of a permutation test of neighbours: are rows next to each other more alike than others? At least three
/// rows.
[[nodiscard]] double neighbour_pvalue(MatrixView<const double> rows);

}  // namespace kqd
