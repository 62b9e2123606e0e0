#include "explain/density.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "core/scale.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumPoints = 64;
constexpr std::size_t kNumBins = 512;

// The values of both samples by linear binning: each is shared between the two nearest of equally spaced knots.
struct Bins {
  std::vector<double> x = std::vector<double>(kNumBins, 0.0);
  std::vector<double> y = std::vector<double>(kNumBins, 0.0);
};

Bins binned(const LabelledLine& line, double low, double step) {
  Bins bins;
  for (std::size_t k = 0; k < line.pool.num_rows(); ++k) {
    const std::uint32_t row = line.pool.order[k];
    const double weight = line.weights.empty() ? 1.0 : line.weights[row];
    const double place = std::clamp((line.pool.values[k] - low) / step, 0.0, static_cast<double>(kNumBins - 1));
    const auto left = std::min(static_cast<std::size_t>(place), kNumBins - 2);
    const double part = place - static_cast<double>(left);
    std::vector<double>& own = line.observed.is_x(row, 0) ? bins.x : bins.y;
    own[left] += (1.0 - part) * weight;
    own[left + 1] += part * weight;
  }
  for (std::vector<double>* own : {&bins.x, &bins.y}) {
    const double total = sum(*own);
    for (double& share : *own) share /= total;
  }
  return bins;
}

// A standard deviation from the quartiles, or from robust_range() when half of the values are equal.
double robust_spread(std::span<const double> sorted) {
  const double quartiles = sorted_percentile(sorted, 0.75) - sorted_percentile(sorted, 0.25);
  if (quartiles > 0.0) return quartiles / kNormalIqr;
  std::vector<double> values(sorted.begin(), sorted.end());
  return robust_range(values, sorted_percentile(sorted, 0.5)) / kNormalIqr;
}

}  // namespace

ProjectedDensity projected_density(const LabelledLine& line) {
  const std::span<const double> sorted = line.pool.values;
  const double low_end = sorted_percentile(sorted, 0.005);
  const double high_end = sorted_percentile(sorted, 0.995);
  const double spread = std::min(pooled_deviation(line), robust_spread(sorted));
  const double bandwidth = 0.9 * spread * std::pow(static_cast<double>(sorted.size()), -0.2);
  // Densities along such a short line would overflow.
  if (!(bandwidth > 0.0) || !std::isfinite(1.0 / bandwidth / line.unit)) return {};
  const double from = low_end - 2.0 * bandwidth;
  const double to = high_end + 2.0 * bandwidth;
  // Values outside the figure keep their place up to four bandwidths, so that they do not pile up at its edges.
  const double low = std::max(sorted.front(), from - 4.0 * bandwidth);
  const double high = std::min(sorted.back(), to + 4.0 * bandwidth);
  const double step = (high - low) / static_cast<double>(kNumBins - 1);
  if (!(step > 0.0)) return {};
  const Bins bins = binned(line, low, step);
  ProjectedDensity density;
  for (std::size_t k = 0; k < kNumPoints; ++k) {
    const double at = from + (to - from) * static_cast<double>(k) / static_cast<double>(kNumPoints - 1);
    double x = 0.0;
    double y = 0.0;
    for (std::size_t b = 0; b < kNumBins; ++b) {
      const double u = (at - (low + static_cast<double>(b) * step)) / bandwidth;
      const double weight = std::exp(-0.5 * u * u) / (bandwidth * std::sqrt(2.0 * std::numbers::pi));
      x += weight * bins.x[b];
      y += weight * bins.y[b];
    }
    density.at.push_back(line.origin + line.unit * at);
    density.x.push_back(x / line.unit);
    density.y.push_back(y / line.unit);
  }
  return density;
}

}  // namespace kqd
