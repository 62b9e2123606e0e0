#include "metrics/data_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"

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

std::optional<DominatingColumn> dominating_column(std::span<const double> deviations) {
  constexpr double kMostOfIt = 0.999;
  if (std::ranges::count_if(deviations, [](double s) { return s > 0.0; }) < 2) return std::nullopt;
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(deviations) - deviations.begin());
  double total = 0.0;  // of variances, in units of the largest
  for (const double s : deviations) total += s / deviations[largest] * (s / deviations[largest]);
  if (!(1.0 / total > kMostOfIt)) return std::nullopt;
  return DominatingColumn{largest, 1.0 / total};
}

void warn_about_scales(const Pool& pool, std::vector<std::string>& warnings) {
  const std::size_t dim = pool.dim();
  if (dim < 2) return;
  // Deviations from the first row, in one pass; their squares may overflow, and then there is more to say than this.
  std::vector<double> sums(dim, 0.0);
  std::vector<double> squares(dim, 0.0);
  for (std::size_t i = 1; i < pool.size(); ++i) {
    for (std::size_t k = 0; k < dim; ++k) {
      const double deviation = pool.row(i)[k] - pool.row(0)[k];
      sums[k] += deviation;
      squares[k] += deviation * deviation;
    }
  }
  const auto n = static_cast<double>(pool.size());
  std::vector<double> deviations(dim);
  for (std::size_t k = 0; k < dim; ++k) deviations[k] = std::sqrt(std::max(0.0, squares[k] - sums[k] / n * sums[k]));
  if (!std::ranges::all_of(deviations, [](double s) { return std::isfinite(s); })) return;
  const auto found = dominating_column(deviations);
  if (!found) return;
  warnings.push_back(
      fmt::format("column {} has {:.4g} % of the variance of all {} columns: distances between rows see little else; "
                  "standardise the columns to let all count",
                  found->index + 1, 100.0 * found->share, dim));
}

void check_reference_points(const MatrixView<const double>& points, const SampleView& x, const SampleView& y,
                            std::vector<std::string>& warnings) {
  if (points.rows() == 0 || points.cols() != x.dim()) return;
  const auto before = [](std::span<const double> a, std::span<const double> b) {
    return std::ranges::lexicographical_compare(a, b);
  };
  std::vector<std::size_t> sorted(points.rows());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  const auto point = [&](std::size_t i) { return points.row(i); };
  std::ranges::sort(sorted, before, point);
  const auto found_among = [&](const SampleView& sample) {
    std::vector<bool> found(points.rows(), false);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const auto row = sample.points.row(i);
      auto place = std::ranges::lower_bound(sorted, row, before, point);
      for (; place != sorted.end() && std::ranges::equal(point(*place), row); ++place) found[*place] = true;
    }
    return found;
  };
  const std::vector<bool> in_x = found_among(x);
  const std::vector<bool> in_y = found_among(y);
  std::size_t of_x_alone = 0;
  std::size_t of_y_alone = 0;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    if (in_x[i] && !in_y[i]) ++of_x_alone;
    if (in_y[i] && !in_x[i]) ++of_y_alone;
  }
  constexpr std::string_view kWhy =
      "seen from rows of one sample the two differ even where their laws do not; use reference pooled, which sets its "
      "rows aside, or points from elsewhere";
  if (std::max(of_x_alone, of_y_alone) == points.rows()) {
    fail(ErrorCode::invalid_option, "the {} reference points are rows of {} and not of {}: {}", points.rows(),
         of_x_alone > 0 ? "X" : "Y", of_x_alone > 0 ? "Y" : "X", kWhy);
  }
  if (of_x_alone + of_y_alone == 0) return;
  warnings.push_back(fmt::format("{} of {} reference points are rows of one sample and not of the other: {}",
                                 of_x_alone + of_y_alone, points.rows(), kWhy));
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
