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
    level_.add(weight);
    cumulative_.push_back(level_.value());
    weighted_sum_.add(weight * value);
  }

  [[nodiscard]] std::span<const double> values() const { return values_; }
  [[nodiscard]] double mean() const { return weighted_sum_.value() / level_.value(); }

  /// Call once, after the last value. Sums of whole weights are exact and a quotient is rounded once, as k/n is for
  /// rows without weights: levels that are equal fractions are equal numbers. The last one is total / total = 1.
  [[nodiscard]] QuantileFunction function() {
    const double total = cumulative_.back();
    for (double& level : cumulative_) level /= total;
    return {values_, cumulative_};
  }

 private:
  std::vector<double> values_;
  std::vector<double> cumulative_;
  CompensatedSum level_;
  CompensatedSum weighted_sum_;
};

}  // namespace kqd
