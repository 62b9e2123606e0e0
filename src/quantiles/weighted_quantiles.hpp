#pragma once
#include <span>
#include <vector>

#include "core/summation.hpp"
#include "quantiles/quantile_gap.hpp"

namespace kqd {

/// A quantile function in the making: values arrive ascending, each with the weight of its row.
class WeightedQuantiles {
 public:
  void add(double value, double weight) {
    values_.push_back(value);
    total_.add(weight);
    levels_.push_back(total_);
    weighted_sum_.add(weight * value);
  }

  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] double mean() const { return weighted_sum_.value() / total_.value(); }

  /// Call after the last value. A cumulative weight is a quotient of exact sums, rounded once, as k/n is for rows
  /// without weights: levels that are equal fractions are equal numbers.
  [[nodiscard]] QuantileFunction function() {
    cumulative_.resize(levels_.size());
    for (std::size_t k = 0; k < levels_.size(); ++k) cumulative_[k] = levels_[k].over(total_);
    cumulative_.back() = 1.0;  // rounding may leave it a little off, and the last level must be reached
    return {values_, cumulative_};
  }

 private:
  std::vector<double> values_;
  std::vector<CompensatedSum> levels_;  // total weight up to and including each value
  std::vector<double> cumulative_;
  CompensatedSum total_;
  CompensatedSum weighted_sum_;
};

}  // namespace kqd
