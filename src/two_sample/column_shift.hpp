#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/random.hpp"

namespace kqd {

/// Moves the values of a column to higher ranks, so that the effect of DifferenceSize is as wanted. A value of a
/// continuous column with normal scores z becomes the one at z + s; normal columns are shifted by s standard
/// deviations. Values stay those of the column: counts and shares keep their ties.
class ColumnShift {
 public:
  /// Empty for a column of one value, and where no shift has the effect.
  [[nodiscard]] static std::optional<ColumnShift> of(std::span<const double> column, double effect);

  /// The value in place of `value`, one of the column's. Equal values are separated at random.
  [[nodiscard]] double operator()(double value, RandomStream& stream) const;

  /// s, in normal scores.
  [[nodiscard]] double size() const { return shift_; }

 private:
  std::vector<double> values_;  // distinct, ascending
  std::vector<double> ranks_;   // share of the column up to each of them
  double shift_ = 0.0;
};

}  // namespace kqd
