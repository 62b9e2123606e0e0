#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/types.hpp"
#include "metrics/classifier/feature_dictionary.hpp"

namespace kqd {

/// Scores of rows by learners that were fitted on earlier rows.
struct ForwardFit {
  std::vector<double> scores;    ///< of the rows from cuts[1] on: larger means more likely X
  std::size_t num_features = 0;  ///< features that the last learner uses
};

/// Rows are cut into parts [cuts[k], cuts[k + 1]). Part k >= 1 is scored by a learner that was fitted on parts 0 to
/// k - 1: its scores depend on the labels of earlier rows only.
///
/// The learner is componentwise L2 boosting [BY03]: of the 64 features with the largest correlation with the labels,
/// the one with the largest correlation with the residual gets a fifth of its least-squares coefficient, again and
/// again, until no correlation is above 0.7 sqrt(2 log F / n), the size that the largest of F reaches without a
/// difference is sqrt(2 log F / n). A part without rows of both samples before it has scores 0. Cost: O(N F + K N 64^2)
/// for F features and K parts. Same bits for any thread count.
[[nodiscard]] ForwardFit fit_forward(const FeatureDictionary& dictionary, std::span<const char> is_x,
                                     std::span<const std::size_t> cuts, ThreadCount threads);

}  // namespace kqd
