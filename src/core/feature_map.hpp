#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Explicit features of rows: features(i, k) = psi_k(x_i). Rows come in blocks of at most kFeatureRows, from several
/// threads at once. What a row gives does not depend on the other rows of its block.
struct FeatureMap {
  std::size_t count = 0;  ///< number of features; may be 0
  std::function<void(MatrixView<const double> rows, MatrixView<double> features)> evaluate;
  /// The same, and sizes(i, k) = the sum of the sizes of the terms that features(i, k) is added from, for bounds of its
  /// rounding. May be empty.
  std::function<void(MatrixView<const double> rows, MatrixView<double> features, MatrixView<double> sizes)>
      evaluate_with_sizes = {};
};

/// A map whose first features can be computed without the others: `features` may have fewer columns than `count`.
/// Several statistics of the same functions share one.
using RowFunctions = std::shared_ptr<const FeatureMap>;

/// Number of rows whose features are computed and summed at a time.
inline constexpr std::size_t kFeatureRows = 256;

}  // namespace kqd
