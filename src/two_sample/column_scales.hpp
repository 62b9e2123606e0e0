#pragma once
#include <memory>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/core/types.hpp"
#include "kqd/directions/directions.hpp"

namespace kqd {

/// How a column is measured: from its pooled median, in units of its pooled scale.
struct ColumnScale {
  std::size_t column = 0;
  int exponent = 0;     ///< a power of two that brings the values near 1
  double center = 0.0;  ///< in units of it
  double scale = 1.0;

  [[nodiscard]] double apply(double value) const;
};

/// Both samples with columns measured in their own scales, so that no statistic depends on their units.
struct ScaledSamples {
  Sample x;  ///< with the weights, without names
  Sample y;
  std::vector<ColumnScale> columns;
};

/// The scale of a column is the root mean square of its deviations from the median, each cut at three interquartile
/// ranges if that range is not 0; of a column of two values it is half their distance. Columns of one value are left
/// out, unless no column varies. Functions of the unlabelled pool: sums run over sorted values.
[[nodiscard]] ScaledSamples scale_columns(const SampleView& x, const SampleView& y, ThreadCount threads);

/// Directions of scaled rows as functions of the rows as they were given.
[[nodiscard]] std::shared_ptr<const Directions> on_given_scale(std::shared_ptr<const Directions> directions,
                                                               std::vector<ColumnScale> columns, std::size_t dim);

}  // namespace kqd
