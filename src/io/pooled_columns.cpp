#include "io/pooled_columns.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/fail.hpp"
#include "core/scale.hpp"
#include "core/summation.hpp"
#include "io/text.hpp"

namespace kqd {
namespace {

// The values of a column in all samples that are there and that count.
std::vector<double> pooled_values(const std::vector<Sample>& samples, std::size_t j) {
  std::vector<double> values;
  for (const Sample& sample : samples) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      const bool counts = sample.weights.empty() || sample.weights[i] > 0.0;
      if (counts && !std::isnan(sample.points(i, j))) values.push_back(sample.points(i, j));
    }
  }
  return values;
}

template <class Change>
void change_column(std::vector<Sample>& samples, std::size_t j, Change change) {
  for (Sample& sample : samples) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) change(sample.points(i, j));
  }
}

bool has_missing(const std::vector<Sample>& samples, std::size_t j) {
  return std::ranges::any_of(samples, [&](const Sample& sample) {
    for (std::size_t i = 0; i < sample.points.rows(); ++i) {
      if (std::isnan(sample.points(i, j))) return true;
    }
    return false;
  });
}

std::string label_of(const std::vector<Sample>& samples, std::size_t j) {
  const auto& names = samples.front().column_names;
  return names.empty() ? fmt::format("{}", j + 1) : in_quotes(names[j]);
}

struct Scale {
  double center = 0.0;
  double spread = 0.0;
};

Scale scale_of(std::vector<double>& values, Standardize kind) {
  if (kind == Standardize::iqr) {
    const double median = percentile(values, 0.5);
    return {median, robust_range(values, median)};
  }
  return {sum(values) / static_cast<double>(values.size()), standard_deviation(values)};
}

// The power of two that brings the largest value near 1: sums and squares of what is left cannot overflow, and no digit
// changes.
int exponent_of(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest > 0.0 ? std::ilogb(largest) : 0;
}

}  // namespace

void impute_medians(std::vector<Sample>& samples, const std::string& source) {
  for (std::size_t j = 0; j < samples.front().points.cols(); ++j) {
    if (!has_missing(samples, j)) continue;
    std::vector<double> values = pooled_values(samples, j);
    if (values.empty()) {
      fail(ErrorCode::empty_sample, "{}: column {} has no value that a median could be taken of; --drop leaves it out",
           source, label_of(samples, j));
    }
    const int exponent = exponent_of(values);
    for (double& value : values) value = std::scalbn(value, -exponent);
    const double median = std::scalbn(percentile(values, 0.5), exponent);
    change_column(samples, j, [&](double& value) {
      if (std::isnan(value)) value = median;
    });
  }
}

void standardize(std::vector<Sample>& samples, Standardize kind, std::vector<std::string>& notes) {
  if (kind == Standardize::none) return;
  std::vector<std::string> mostly_one_value;
  for (std::size_t j = 0; j < samples.front().points.cols(); ++j) {
    std::vector<double> values = pooled_values(samples, j);
    if (values.empty()) continue;  // all weights are 0, which is refused elsewhere
    const int exponent = exponent_of(values);
    for (double& value : values) value = std::scalbn(value, -exponent);
    // A sum in the order of the rows would know by its rounding which sample comes first.
    std::ranges::sort(values);
    const bool constant = values.front() == values.back();
    const Scale scale = scale_of(values, kind);
    if (kind == Standardize::iqr && !constant && percentile(values, 0.75) == percentile(values, 0.25)) {
      mostly_one_value.push_back(label_of(samples, j));
    }
    change_column(samples, j, [&](double& value) {
      value = constant ? 0.0 : (std::scalbn(value, -exponent) - scale.center) / scale.spread;
    });
  }
  if (mostly_one_value.empty()) return;
  notes.push_back(
      fmt::format("half of the values or more are equal in column{} {}: scaled by the median absolute "
                  "deviation or the standard deviation, as the interquartile range is 0",
                  mostly_one_value.size() == 1 ? "" : "s", fmt::join(mostly_one_value, ", ")));
}

}  // namespace kqd
