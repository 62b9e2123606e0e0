#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

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
  /// This sum over another one, as if both were exact and the quotient were rounded once.
  [[nodiscard]] double over(const CompensatedSum& total) const {
    const double quotient = value() / total.value();
    const double rest = std::fma(-quotient, total.sum_, sum_) + (lost_ - quotient * total.lost_);
    return quotient + rest / total.sum_;
  }

 private:
  double sum_ = 0.0;
  double lost_ = 0.0;
};

[[nodiscard]] inline double sum(std::span<const double> values) {
  CompensatedSum total;
  for (const double v : values) total.add(v);
  return total.value();
}

/// Non-negative numbers, not all 0, times the power of two that brings the largest into [1, 2): no digit changes, and
/// their sum cannot overflow.
[[nodiscard]] inline std::vector<double> scaled_near_one(std::span<const double> values) {
  const int exponent = std::ilogb(*std::ranges::max_element(values));
  std::vector<double> scaled(values.size());
  std::ranges::transform(values, scaled.begin(), [&](double v) { return std::scalbn(v, -exponent); });
  return scaled;
}

}  // namespace kqd
