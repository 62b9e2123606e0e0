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

/// The power of two, as its exponent, of the number farthest from 0; 0 when all are 0. In units of it no sum,
/// square or cube leaves the range of numbers, and no digit changes.
[[nodiscard]] inline int binary_magnitude(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest > 0.0 ? std::ilogb(largest) : 0;
}

/// Numbers times the power of two that brings the one farthest from 0 to [1, 2) in absolute value.
[[nodiscard]] inline std::vector<double> scaled_near_one(std::span<const double> values) {
  const int exponent = binary_magnitude(values);
  std::vector<double> scaled(values.size());
  std::ranges::transform(values, scaled.begin(), [&](double v) { return std::scalbn(v, -exponent); });
  return scaled;
}

}  // namespace kqd
