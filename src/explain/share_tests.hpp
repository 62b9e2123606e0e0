#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "explain/direction_tests.hpp"
#include "explain/labelled_cells.hpp"

namespace kqd {

/// The shares of the levels of one category in both samples, and the test that they are equal.
struct ShareTest {
  double score = 0.0;  ///< root of chi-square over its degrees of freedom: about 1 under the null hypothesis
  double pvalue = 1.0;
  std::vector<double> x;  ///< per level
  std::vector<double> y;
  std::vector<double> pooled;

  [[nodiscard]] double total_variation() const;
  [[nodiscard]] double cohens_w() const;
};

/// Tests the shares of each category by the chi-square statistic and permutations: those of test_directions() with the
/// same source and options, with the same rule of stopping. `codes[k][i]` is the level of the row at position i in
/// category k, below num_levels[k].
[[nodiscard]] std::vector<ShareTest> test_shares(std::span<const std::vector<std::uint16_t>> codes,
                                                 std::span<const std::size_t> num_levels,
                                                 const PermutationSource& source, const DirectionTestOptions& options);

}  // namespace kqd
