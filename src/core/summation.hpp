#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace kqd {

/// A running sum that also carries what rounding lost (Neumaier): error of about two roundings whatever the length.
class CompensatedSum {
 public:
  void add(double value) {
    const double total = sum_ + value;
    lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - total) + value : (value - total) + sum_;
    sum_ = total;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

[[nodiscard]] inline double sum(std::span<const double> values) {
  CompensatedSum total;
  for (const double v : values) total.add(v);
  return total.value();
}

}  // namespace kqd
