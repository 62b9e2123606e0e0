#include "kernel/column_scales.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/scale.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMostScaleRows = 20'000;
constexpr std::size_t kMostOrderedValues = 10;
constexpr double kMeanContribution = 2.0;  // of a column of the table: that of a number, the mean of (x - y)^2 / c^2

std::pair<double, double> extremes(const Matrix<double>& rows, std::size_t column) {
  std::pair<double, double> range{rows(0, column), rows(0, column)};
  for (std::size_t i = 1; i < rows.rows(); ++i) {
    range.first = std::min(range.first, rows(i, column));
    range.second = std::max(range.second, rows(i, column));
  }
  return range;
}

// The mean distance of two values, each drawn uniformly from 2 to kMostOrderedValues different whole numbers; none for
// other columns.
std::optional<double> ordered_spread(const std::vector<double>& values) {
  std::vector<double> different;
  for (const double v : values) {
    const auto place = std::ranges::lower_bound(different, v);
    if (place != different.end() && *place == v) continue;
    if (v != std::floor(v) || different.size() == kMostOrderedValues) return std::nullopt;
    different.insert(place, v);
  }
  if (different.size() < 2) return std::nullopt;
  double total = 0.0;
  for (const double a : different) {
    for (const double b : different) total += std::abs(a - b);
  }
  return total / static_cast<double>(different.size() * different.size());
}

// `missing`: the column that marks missing values; none: all rows have a value.
double scale_of_number(const Matrix<double>& rows, std::size_t column, std::optional<std::size_t> missing) {
  std::vector<double> values;
  const auto [present, absent] = missing ? extremes(rows, *missing) : std::pair{0.0, 0.0};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    if (!missing || present == absent || rows(i, *missing) < 0.5 * present + 0.5 * absent) {
      values.push_back(rows(i, column));
    }
  }
  if (values.empty()) return 1.0;
  if (const auto spread = ordered_spread(values)) return -*spread / kMeanContribution;
  const double middle = median(values);
  const double scale = robust_range(values, middle) / kNormalIqr;
  return scale > 0.0 && std::isfinite(scale) ? scale : 1.0;
}

}  // namespace

std::vector<double> column_scales(const Pool& pool, Seed seed) {
  const Matrix<double> rows = subsample(pool, kMostScaleRows, seed, Purpose::bandwidth_subsample);
  std::vector<double> scales(pool.dim(), 1.0);
  if (rows.rows() == 0) return scales;
  std::map<std::size_t, std::size_t> num_levels;       // per source
  std::map<std::size_t, std::size_t> missing_columns;  // per source
  const auto role = [&](std::size_t c) { return pool.roles.empty() ? ColumnRole{.source = c} : pool.roles[c]; };
  std::map<std::size_t, bool> has_number;
  for (std::size_t c = 0; c < scales.size(); ++c) {
    if (role(c).kind != ColumnKind::number) ++num_levels[role(c).source];
    if (role(c).kind == ColumnKind::number) has_number[role(c).source] = true;
    if (role(c).kind == ColumnKind::missing) missing_columns[role(c).source] = c;
  }
  for (std::size_t c = 0; c < scales.size(); ++c) {
    const ColumnRole of_column = role(c);
    if (of_column.kind == ColumnKind::number) {
      const auto missing = missing_columns.find(of_column.source);
      scales[c] =
          scale_of_number(rows, c, missing == missing_columns.end() ? std::nullopt : std::optional(missing->second));
      continue;
    }
    // Two different levels differ in two columns.
    const auto count = static_cast<double>(num_levels[of_column.source]);
    const double contribution = has_number.contains(of_column.source) ? kMeanContribution
                                : count > 1.0                         ? 0.5 * kMeanContribution * count / (count - 1.0)
                                                                      : kMeanContribution;
    const auto [low, high] = extremes(rows, c);
    scales[c] = (high > low ? high - low : 1.0) / std::sqrt(contribution);
  }
  return scales;
}

}  // namespace kqd
