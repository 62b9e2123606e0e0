#include "core/scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr double kNormalMad = 1.4826;  // sd of a normal sample over its median absolute deviation

}  // namespace

double percentile(std::vector<double>& values, double fraction) {
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(place);
  std::ranges::nth_element(values, below);
  const double low = *below;
  if (below + 1 == values.end()) return low;
  const double high = *std::min_element(below + 1, values.end());
  return low + (place - std::floor(place)) * (high - low);
}

double sorted_percentile(std::span<const double> sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double mean = sum(values) / static_cast<double>(values.size());
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return std::sqrt(squares.value() / static_cast<double>(values.size() - 1));
}

double robust_range(std::vector<double>& values, double median) {
  const double iqr = percentile(values, 0.75) - percentile(values, 0.25);
  if (iqr > 0.0) return iqr;
  std::vector<double> deviations(values.size());
  std::ranges::transform(values, deviations.begin(), [&](double v) { return std::abs(v - median); });
  const double mad = percentile(deviations, 0.5);
  if (mad > 0.0) return kNormalIqr * kNormalMad * mad;
  return kNormalIqr * standard_deviation(values);
}

}  // namespace kqd
