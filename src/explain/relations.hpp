#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "explain/direction_tests.hpp"
#include "explain/table_columns.hpp"
#include "kqd/explain/explain.hpp"

namespace kqd {

struct Relations {
  std::vector<RelationExplanation> pairs;  ///< strongest first, at most kShownRelations
  std::size_t num_examined = 0;
  std::size_t num_rows = 0;  ///< of the pool: its first ones, a label-blind random choice
};

inline constexpr std::size_t kShownRelations = 20;

/// Tests for every pair of columns whether their relation differs between the samples.
///
/// A number enters by the normal scores of its ranks in the pool, a category by its levels, of which at most 11 of the
/// most frequent are apart. The statistic of a pair is the sum of the squared differences of the covariances of both
/// samples, each divided by its pooled shares, with numbers scaled to variance 1 within each sample: so a shift, a
/// change of scale and a change of shares do not count as changes of a relation. It is turned to a normal score by the
/// cube root of Wilson and Hilferty, in units of its mean over the permutations, and adjusted p-values come from the
/// largest score of each permutation (max-T). The permutations are those of test_directions().
///
/// Of more than 800 pairs, those with the strongest relation in 1000 rows of the pool are examined; of more than 1000
/// columns none. Pairs times rows are at most some 4 million. None of these choices depends on the labels.
[[nodiscard]] Relations test_relations(std::span<const TableColumn> columns, const Pool& pool, const Marks& marks,
                                       const PermutationSource& source, const DirectionTestOptions& options,
                                       double alpha);

}  // namespace kqd
