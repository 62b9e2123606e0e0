#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/sample.hpp"

namespace kqd {

/// Functions of one column with mean 0, variance 1 and no correlation over both samples, each sample counted alike: the
/// normal score of the mid-rank, and polynomials of it that show spread, skewness and tails. They do not change when
/// the column is measured in other units or on a logarithmic scale, and an outlier counts like the largest value.
///
/// Columns with few values have fewer functions; the others are 0. Values between those seen are interpolated.
class ColumnScores {
 public:
  static constexpr std::size_t kOrders = 4;
  using Scores = std::array<double, kOrders>;

  /// From the values of both samples; weights are empty or one per value.
  ColumnScores(std::span<const double> x, std::span<const double> x_weights, std::span<const double> y,
               std::span<const double> y_weights);

  [[nodiscard]] Scores operator()(double value) const;
  /// True where the column has this function.
  [[nodiscard]] bool has(std::size_t order) const { return present_[order]; }

 private:
  std::vector<double> knots_;
  std::vector<Scores> scores_;
  std::array<bool, kOrders> present_ = {};
};

}  // namespace kqd
