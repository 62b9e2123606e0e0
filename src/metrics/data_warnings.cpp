#include "metrics/data_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kqd {
namespace {

// Points that differ, by so little that the squares of their distances are no normal numbers.
bool squares_underflow(const Pool& pool) {
  constexpr double kSmallest = 1e-150;
  bool differ = false;
  for (std::size_t i = 1; i < pool.size(); ++i) {
    for (std::size_t k = 0; k < pool.dim(); ++k) {
      const double gap = std::abs(pool.row(i)[k] - pool.row(0)[k]);
      if (gap >= kSmallest) return false;
      differ = differ || gap > 0.0;
    }
  }
  return differ;
}

}  // namespace

std::string flat_directions_warning(std::size_t num_flat, std::size_t num_directions, const KernelSpec& kernel) {
  const auto bandwidth = first_bandwidth(kernel);
  return fmt::format(
      "{} of {} directions are flat (over 95 % of the pooled values are equal) and carry no information{}", num_flat,
      num_directions,
      bandwidth ? fmt::format("; the bandwidth {:.6g} may be far off, or the data are mostly one value", *bandwidth)
                : "");
}

void warn_about_one_row(const SampleView& sample, std::string_view name, std::vector<std::string>& warnings) {
  if (sample.size() == 1) {
    warnings.push_back(fmt::format("{} has one row: its quantiles are all the same value", name));
  }
}

void warn_about_data(const SampleView& x, const SampleView& y, std::vector<std::string>& warnings) {
  warn_about_one_row(x, "X", warnings);
  warn_about_one_row(y, "Y", warnings);
  warn_about_pool({x.points, y.points}, warnings);
}

void warn_about_weights(const SampleView& x, const SampleView& y, std::vector<std::string>& warnings) {
  constexpr double kVeryDifferent = 2.0;
  if (!x.weighted() && !y.weighted()) return;
  const auto mean_weight = [](const SampleView& sample) {
    double mean = sample.weighted() ? 0.0 : 1.0;
    for (const double w : sample.weights) mean += w / static_cast<double>(sample.size());
    return mean;
  };
  const double ratio = mean_weight(x) / mean_weight(y);
  if (ratio >= 1.0 / kVeryDifferent && ratio <= kVeryDifferent) return;
  warnings.push_back(fmt::format(
      "weights of X are on average {:.3g} times those of Y{}: labellings exchange rows with their weights, which must "
      "be on one scale",
      ratio, x.weighted() && y.weighted() ? "" : " (rows without one count 1)"));
}

void warn_about_pool(const Pool& pool, std::vector<std::string>& warnings) {
  if (squares_underflow(pool)) {
    warnings.emplace_back("the pooled points are so close that squared distances underflow; rescale the columns");
  }
  std::vector<std::size_t> constant;
  for (std::size_t k = 0; k < pool.dim(); ++k) {
    std::size_t i = 1;
    while (i < pool.size() && pool.row(i)[k] == pool.row(0)[k]) ++i;
    if (i == pool.size() && pool.size() > 1) constant.push_back(k + 1);
  }
  if (constant.empty()) return;
  if (constant.size() == pool.dim()) {
    warnings.push_back(fmt::format("all {} pooled points are identical: there is nothing to compare", pool.size()));
    return;
  }
  const std::size_t shown = std::min<std::size_t>(constant.size(), 10);
  warnings.push_back(fmt::format(
      "{} of {} columns {} constant: {}{}", constant.size(), pool.dim(), constant.size() == 1 ? "is" : "are",
      fmt::join(constant.begin(), constant.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      constant.size() > shown ? ", ..." : ""));
}

}  // namespace kqd
