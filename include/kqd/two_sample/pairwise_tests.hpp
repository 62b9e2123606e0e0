#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/metrics/distance_matrix.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// Options of the distances that go with tests of all pairs: those of the same method, or of the method of its effect
/// size when the test has no distance of its own.
[[nodiscard]] DistanceMatrixOptions distances_for(const TwoSampleOptions& options);

/// The tests of all pairs of several samples.
struct PairwiseTests {
  std::string method;       ///< of the tests; that of the distances may be another one
  Matrix<double> pvalues;   ///< symmetric, 1 on the diagonal
  Matrix<double> adjusted;  ///< the same adjusted for all pairs, by Holm's rule
  std::size_t num_pairs = 0;
  std::size_t num_rejected = 0;  ///< pairs with an adjusted p-value <= alpha
  double alpha = 0.05;
  std::int64_t num_permutations = 0;
  bool raised = false;             ///< more than the usual 999, because of the number of pairs
  std::size_t num_enumerated = 0;  ///< pairs of which all permutations were evaluated
  Warnings warnings;
};

/// Is each pair of samples from the same distribution? A permutation test per pair, with the settings that the matrix
/// of these samples was made with. They were drawn from the pool of all samples, label-blind, so every test is exact by
/// itself; adjusted p-values are family-wise over all pairs. The tests are by the method of the matrix, unless the
/// options name one without a distance of its own, such as "adaptive"; the design is independent. num_permutations = 0:
/// 999, or as many as one adjusted p-value needs to reach alpha, up to 19,999. Throws the errors of two_sample_test().
[[nodiscard]] PairwiseTests pairwise_tests(std::span<const SampleView> samples, const DistanceMatrix& matrix,
                                           const TwoSampleOptions& options, const RunControl* control = nullptr);

}  // namespace kqd
