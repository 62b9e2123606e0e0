#pragma once
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// How a column is measured: (value / 2^exponent - center) / scale.
struct ColumnScale {
  std::size_t column = 0;
  int exponent = 0;     ///< brings the values near 1
  double center = 0.0;  ///< in units of 2^exponent
  double scale = 1.0;   ///< the same
};

/// The treatment of columns of one value.
enum class ConstantColumns {
  left_out,  ///< unless no column varies
  kept,      ///< with a scale of their own size: rows that come later may have other values
};

/// Measures every column from its pooled median in units of its pooled scale: the root mean square of the deviations,
/// each cut at three interquartile ranges if that range is not 0; of a column of two values half their distance.
/// Functions of the unlabelled pool: sums run over sorted values.
[[nodiscard]] std::vector<ColumnScale> fit_column_scales(MatrixView<const double> x, MatrixView<const double> y,
                                                         ConstantColumns constant, ThreadCount threads);

/// The scaled columns of some rows.
void scale_rows(const std::vector<ColumnScale>& columns, MatrixView<const double> rows, MatrixView<double> scaled);
[[nodiscard]] Matrix<double> scaled_rows(const std::vector<ColumnScale>& columns, MatrixView<const double> rows,
                                         ThreadCount threads);

}  // namespace kqd
