#include "profile/column_scales.hpp"

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

// A column of one value.
ColumnScale scale_of_constant(double value, std::size_t k) {
  if (value == 0.0) return {.column = k};
  const int exponent = std::ilogb(value);
  return {.column = k, .exponent = exponent, .center = std::scalbn(value, -exponent)};
}

}  // namespace

std::vector<ColumnScale> fit_column_scales(MatrixView<const double> x, MatrixView<const double> y,
                                           ConstantColumns constant, ThreadCount threads) {
  std::vector<std::optional<ColumnScale>> found(x.cols());
  parallel_for_blocks(x.cols(), 1, threads, [&](std::size_t k, std::size_t) { found[k] = scale_of(x, y, k); });
  std::vector<ColumnScale> columns;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k]) {
      columns.push_back(*found[k]);
    } else if (constant == ConstantColumns::kept) {
      columns.push_back(scale_of_constant(x.rows() > 0 ? x(0, k) : y(0, k), k));
    }
  }
  if (columns.empty()) columns.push_back({.center = x(0, 0)});
  return columns;
}

void scale_rows(const std::vector<ColumnScale>& columns, MatrixView<const double> rows, MatrixView<double> scaled) {
  const std::size_t count = columns.size();
  std::vector<double> factors;
  std::vector<double> centers;
  std::vector<double> scales;
  bool powers_are_normal = true;  // products then have the same bits as scalbn(), which is a slow call
  bool all_columns = count == rows.cols();
  for (std::size_t k = 0; k < count; ++k) {
    factors.push_back(std::scalbn(1.0, -columns[k].exponent));
    centers.push_back(columns[k].center);
    scales.push_back(columns[k].scale);
    powers_are_normal = powers_are_normal && std::isnormal(factors.back());
    all_columns = all_columns && columns[k].column == k;
  }
  std::vector<double> some(count);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double* values = rows.row(i).data();
    if (!all_columns) {
      for (std::size_t k = 0; k < count; ++k) some[k] = values[columns[k].column];
      values = some.data();
    }
    double* const result = scaled.row(i).data();
    if (powers_are_normal) {
      for (std::size_t k = 0; k < count; ++k) result[k] = (values[k] * factors[k] - centers[k]) / scales[k];
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        result[k] = (std::scalbn(values[k], -columns[k].exponent) - centers[k]) / scales[k];
      }
    }
  }
}

Matrix<double> scaled_rows(const std::vector<ColumnScale>& columns, MatrixView<const double> rows,
                           ThreadCount threads) {
  constexpr std::size_t kRowsPerTask = 4096;
  Matrix<double> scaled(rows.rows(), columns.size());
  parallel_for_blocks(rows.rows(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    scale_rows(columns, rows.row_range(begin, end - begin), scaled.view().row_range(begin, end - begin));
  });
  return scaled;
}

}  // namespace kqd
