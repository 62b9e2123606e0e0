#pragma once
#include <cstddef>
#include <functional>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Explicit features of rows: features(i, k) = psi_k(x_i). Rows come in blocks of at most kFeatureRows, from several
/// threads at once.
struct FeatureMap {
  std::size_t count = 0;  ///< number of features; may be 0
  std::function<void(MatrixView<const double> rows, MatrixView<double> features)> evaluate;
};

/// Number of rows whose features are computed and summed at a time.
inline constexpr std::size_t kFeatureRows = 256;

}  // namespace kqd
