#include "explain/density.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/scale.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumPoints = 64;
constexpr std::size_t kNumBins = 512;

// Values shared out between the two nearest of equally spaced knots: what a smooth estimate sees of them.
std::vector<double> binned(const WeightedValues& line, std::span<const double> weights, double low, double step) {
  std::vector<double> bins(kNumBins, 0.0);
  const double total = sum(weights);
  for (std::size_t i = 0; i < line.values.size(); ++i) {
    if (!(weights[i] > 0.0)) continue;
    const double place = std::clamp((line.values[i] - low) / step, 0.0, static_cast<double>(kNumBins - 1));
    const auto left = std::min(static_cast<std::size_t>(place), kNumBins - 2);
    const double part = place - static_cast<double>(left);
    bins[left] += (1.0 - part) * weights[i] / total;
    bins[left + 1] += part * weights[i] / total;
  }
  return bins;
}

}  // namespace

ProjectedDensity projected_density(const WeightedValues& line) {
  std::vector<double> values(line.values.begin(), line.values.end());
  const double median = percentile(values, 0.5);
  const double low_end = percentile(values, 0.005);
  const double high_end = percentile(values, 0.995);
  const auto [smallest, largest] = std::ranges::minmax(values);
  const double spread = std::min(standard_deviation(values), robust_range(values, median) / kNormalIqr);
  const double bandwidth = 0.9 * spread * std::pow(static_cast<double>(values.size()), -0.2);
  if (!(bandwidth > 0.0) || !std::isfinite(largest - smallest)) return {};
  const double from = low_end - 2.0 * bandwidth;
  const double to = high_end + 2.0 * bandwidth;
  // What lies beyond the picture keeps its place there, and does not pile up at its edges.
  const double low = std::max(smallest, from - 4.0 * bandwidth);
  const double high = std::min(largest, to + 4.0 * bandwidth);
  const double step = (high - low) / static_cast<double>(kNumBins - 1);
  if (!(step > 0.0)) return {};
  const std::vector<double> x_bins = binned(line, line.x_weights, low, step);
  const std::vector<double> y_bins = binned(line, line.y_weights, low, step);
  ProjectedDensity density;
  for (std::size_t k = 0; k < kNumPoints; ++k) {
    const double at = from + (to - from) * static_cast<double>(k) / static_cast<double>(kNumPoints - 1);
    double x = 0.0;
    double y = 0.0;
    for (std::size_t b = 0; b < kNumBins; ++b) {
      const double u = (at - (low + static_cast<double>(b) * step)) / bandwidth;
      const double weight = std::exp(-0.5 * u * u) / (bandwidth * std::sqrt(2.0 * std::numbers::pi));
      x += weight * x_bins[b];
      y += weight * y_bins[b];
    }
    density.at.push_back(at);
    density.x.push_back(x);
    density.y.push_back(y);
  }
  return density;
}

}  // namespace kqd
