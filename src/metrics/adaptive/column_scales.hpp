#pragma once
#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Both samples with columns measured in their own scales, so that no statistic depends on their units.
struct ScaledSamples {
  Matrix<double> x;
  Matrix<double> y;
};

/// Measures every column from its pooled median in units of its pooled scale: the root mean square of the deviations,
/// each cut at three interquartile ranges if that range is not 0; of a column of two values half their distance.
/// Columns of one value are left out, unless no column varies. Functions of the unlabelled pool: sums run over sorted
/// values.
[[nodiscard]] ScaledSamples scale_columns(MatrixView<const double> x, MatrixView<const double> y, ThreadCount threads);

}  // namespace kqd
