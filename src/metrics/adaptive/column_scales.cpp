#include "metrics/adaptive/column_scales.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/executor.hpp"
#include "core/scale.hpp"
#include "core/summation.hpp"
#include "simd/sort.hpp"

namespace kqd {
namespace {

constexpr double kMostInterquartileRanges = 3.0;
constexpr double kQuarter = 0.25;

struct ColumnScale {
  std::size_t column = 0;
  int exponent = 0;     // a power of two that brings the values near 1
  double center = 0.0;  // in units of it
  double scale = 1.0;
};

// Of ascending values near 1, at least two of which differ.
void measure(std::span<const double> sorted, ColumnScale& column) {
  column.center = sorted_percentile(sorted, 2 * kQuarter);
  const double smallest = sorted.front();
  const double largest = sorted.back();
  if (*std::ranges::upper_bound(sorted, smallest) == largest) {
    column.scale = (largest - smallest) / 2.0;
    return;
  }
  const double range = sorted_percentile(sorted, 3 * kQuarter) - sorted_percentile(sorted, kQuarter);
  const double most = range > 0.0 ? kMostInterquartileRanges * range : largest - smallest;
  CompensatedSum squares;
  for (const double v : sorted) {
    const double deviation = std::min(most, std::abs(v - column.center));
    squares.add(deviation * deviation);
  }
  column.scale = std::sqrt(squares.value() / static_cast<double>(sorted.size()));
}

// Nothing for a column of one value.
std::optional<ColumnScale> scale_of(MatrixView<const double> x, MatrixView<const double> y, std::size_t k) {
  std::vector<double> values;
  values.reserve(x.rows() + y.rows());
  for (const auto& points : {x, y}) {
    for (std::size_t i = 0; i < points.rows(); ++i) values.push_back(points(i, k));
  }
  ColumnScale column{.column = k, .exponent = binary_magnitude(values)};
  for (double& value : values) value = std::scalbn(value, -column.exponent);
  simd::sort_ascending(values);
  if (values.front() == values.back()) return std::nullopt;
  measure(values, column);
  return column;
}

Matrix<double> scaled(MatrixView<const double> points, std::span<const ColumnScale> columns, ThreadCount threads) {
  constexpr std::size_t kRowsPerTask = 4096;
  Matrix<double> made(points.rows(), columns.size());
  parallel_for_blocks(points.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const auto& [column, exponent, center, scale] = columns[k];
        made(i, k) = (std::scalbn(points(i, column), -exponent) - center) / scale;
      }
    }
  });
  return made;
}

}  // namespace

ScaledSamples scale_columns(MatrixView<const double> x, MatrixView<const double> y, ThreadCount threads) {
  std::vector<std::optional<ColumnScale>> found(x.cols());
  parallel_for_blocks(x.cols(), 1, threads, [&](std::size_t k, std::size_t) { found[k] = scale_of(x, y, k); });
  std::vector<ColumnScale> columns;
  for (const auto& column : found) {
    if (column) columns.push_back(*column);
  }
  if (columns.empty()) columns.push_back({.center = x(0, 0)});
  return {scaled(x, columns, threads), scaled(y, columns, threads)};
}

}  // namespace kqd
