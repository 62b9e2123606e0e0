#include "two_sample/column_scales.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

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
std::optional<ColumnScale> scale_of(const SampleView& x, const SampleView& y, std::size_t k) {
  std::vector<double> values;
  values.reserve(x.size() + y.size());
  for (const SampleView* sample : {&x, &y}) {
    for (std::size_t i = 0; i < sample->size(); ++i) values.push_back(sample->points(i, k));
  }
  ColumnScale column{.column = k, .exponent = binary_magnitude(values)};
  for (double& value : values) value = std::scalbn(value, -column.exponent);
  simd::sort_ascending(values);
  if (values.front() == values.back()) return std::nullopt;
  measure(values, column);
  return column;
}

Sample scaled(const SampleView& sample, std::span<const ColumnScale> columns, ThreadCount threads) {
  constexpr std::size_t kRowsPerTask = 4096;
  Sample made{Matrix<double>(sample.size(), columns.size()), {sample.weights.begin(), sample.weights.end()}, {}};
  parallel_for_blocks(sample.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k) {
        made.points(i, k) = columns[k].apply(sample.points(i, columns[k].column));
      }
    }
  });
  return made;
}

class DirectionsOnGivenScale : public Directions {
 public:
  DirectionsOnGivenScale(std::shared_ptr<const Directions> directions, std::vector<ColumnScale> columns,
                         std::size_t dim)
      : directions_(std::move(directions)), columns_(std::move(columns)), dim_(dim) {}

  [[nodiscard]] std::size_t count() const override { return directions_->count(); }
  [[nodiscard]] std::size_t dim() const override { return dim_; }
  [[nodiscard]] const Kernel& kernel() const override { return directions_->kernel(); }
  void evaluate(MatrixView<const double> points, std::size_t first, MatrixView<double> values,
                ThreadCount threads) const override {
    const Sample own = scaled({points, {}}, columns_, threads);
    directions_->evaluate(own.points, first, values, threads);
  }
  [[nodiscard]] double inner_product(std::size_t i, const Directions& v, std::size_t j) const override {
    const auto* other = dynamic_cast<const DirectionsOnGivenScale*>(&v);
    return directions_->inner_product(i, other != nullptr ? *other->directions_ : v, j);
  }

 private:
  std::shared_ptr<const Directions> directions_;
  std::vector<ColumnScale> columns_;
  std::size_t dim_;
};

}  // namespace

double ColumnScale::apply(double value) const {
  return (std::scalbn(value, -exponent) - center) / scale;
}

ScaledSamples scale_columns(const SampleView& x, const SampleView& y, ThreadCount threads) {
  std::vector<std::optional<ColumnScale>> found(x.dim());
  parallel_for_blocks(x.dim(), 1, threads, [&](std::size_t k, std::size_t) { found[k] = scale_of(x, y, k); });
  std::vector<ColumnScale> columns;
  for (const auto& column : found) {
    if (column) columns.push_back(*column);
  }
  if (columns.empty()) columns.push_back({.center = x.points(0, 0)});
  ScaledSamples samples{scaled(x, columns, threads), scaled(y, columns, threads), {}};
  samples.columns = std::move(columns);
  return samples;
}

std::shared_ptr<const Directions> on_given_scale(std::shared_ptr<const Directions> directions,
                                                 std::vector<ColumnScale> columns, std::size_t dim) {
  return std::make_shared<DirectionsOnGivenScale>(std::move(directions), std::move(columns), dim);
}

}  // namespace kqd
