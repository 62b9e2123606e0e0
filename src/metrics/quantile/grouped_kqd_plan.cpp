#include "metrics/quantile/grouped_kqd_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "profile/grouped_gaps.hpp"

namespace kqd {
namespace {

// The directions as functions of rows. Linear ones are measured from the mean of the pilot rows.
RowFunctions functions_of(std::shared_ptr<const Directions> directions, const Pool& pilot) {
  const std::size_t count = directions->count();
  std::vector<double> origin = directions->linear() ? pooled_mean(pilot) : std::vector<double>{};
  return std::make_shared<const FeatureMap>(
      FeatureMap{count, [directions = std::move(directions), origin = std::move(origin)](MatrixView<const double> rows,
                                                                                         MatrixView<double> values) {
                   Matrix<double> lines(values.cols(), rows.rows());
                   directions->evaluate_from(origin, rows, 0, lines, ThreadCount{1});
                   for (std::size_t i = 0; i < values.rows(); ++i) {
                     for (std::size_t k = 0; k < values.cols(); ++k) values(i, k) = lines(k, i);
                   }
                 }});
}

// The variance of the values that bins count as, in units of the square of their range.
double relative_variance(std::span<const double> values, std::span<const double> rows, double range) {
  CompensatedSum count;
  CompensatedSum sum;
  CompensatedSum squares;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const double value = (values[b] - values.front()) / range;
    count.add(rows[b]);
    sum.add(rows[b] * value);
    squares.add(rows[b] * value * value);
  }
  const double mean = sum.value() / count.value();
  return std::max(0.0, squares.value() / count.value() - mean * mean);
}

std::shared_ptr<const GroupedData> collected(std::shared_ptr<const GroupedRows> rows,
                                             const std::shared_ptr<const Directions>& directions, ThreadCount threads) {
  GroupedSummary summary(std::move(rows));
  summary.add_lines(functions_of(directions, summary.rows().pilot()), directions->count(), threads);
  summary.collect(threads);
  return summary.data();
}

}  // namespace

GroupedKqdPlan::GroupedKqdPlan(std::shared_ptr<const GroupedRows> rows, std::shared_ptr<const Directions> directions,
                               const MethodOptions& options, Over over)
    : GroupedKqdPlan(collected(std::move(rows), directions, options.threads), 0, directions->count(), options, over) {}

GroupedKqdPlan::GroupedKqdPlan(std::shared_ptr<const GroupedData> data, std::size_t first_line, std::size_t count,
                               const MethodOptions& options, Over over)
    : data_(std::move(data)),
      first_line_(first_line),
      num_directions_(count),
      over_(over),
      power_(options.power),
      weighting_(options.weighting) {
  std::vector<double> deviations;
  for (std::size_t i = 0; i < num_directions_; ++i) {
    const std::vector<double> counts = rows_per_bin(line(i));
    const std::vector<double>& values = line(i).grid.values;
    const double range = values.back() - values.front();
    largest_range_ = std::max(largest_range_, range);
    deviations.push_back(range > 0.0 ? range * std::sqrt(relative_variance(values, counts, range)) : 0.0);
    if (is_mostly_one_value(static_cast<std::size_t>(*std::ranges::max_element(counts)), data_->num_rows())) {
      ++num_flat_;
    }
  }
  CompensatedSum squares;
  for (const double v : scaled_near_one(deviations)) squares.add(v * v);
  pooled_scale_ =
      std::scalbn(std::sqrt(squares.value() / static_cast<double>(num_directions_)), binary_magnitude(deviations));
}

void GroupedKqdPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values,
                              ThreadCount threads) const {
  evaluate_over_directions(over_, power_, batches, values, threads);
}

void GroupedKqdPlan::evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                                         ThreadCount threads) const {
  const UnitPermutations permutations(batches, taus.cols(), data_->unit_rows);
  parallel_for_blocks(taus.rows(), 1, threads, [&](std::size_t i, std::size_t) {
    if (sums_of_gaps()) {
      grouped_gaps(line(i), GapWeight::size, permutations, taus.row(i));
    } else {
      grouped_quantile_gaps(line(i), Power{power_}, weighting_, permutations, taus.row(i));
    }
  });
}

std::vector<GroupedKqdPlan::WithoutUnit> GroupedKqdPlan::without_units(const LabelBatch& observed,
                                                                       ThreadCount threads) const {
  Matrix<double> taus(num_directions_, num_rows());
  Matrix<double> variances(num_directions_, num_rows(), 0.0);
  parallel_for_blocks(num_directions_, 1, threads, [&](std::size_t i, std::size_t) {
    gaps_without_units(line(i), Power{power_}, weighting_, observed, taus.row(i));
    const std::vector<double>& values = line(i).grid.values;
    const double range = values.back() - values.front();
    if (!(range > 0.0)) return;
    const std::vector<double> all = rows_per_bin(line(i));
    std::vector<double> left(all.size());
    for (std::size_t u = 0; u < num_rows(); ++u) {
      for (std::size_t b = 0; b < all.size(); ++b) left[b] = all[b] - static_cast<double>(line(i).counts(u, b));
      variances(i, u) = range * range * relative_variance(values, left, range);
    }
  });
  std::vector<WithoutUnit> found(num_rows());
  std::vector<double> own(num_directions_);
  for (std::size_t u = 0; u < found.size(); ++u) {
    double variance = 0.0;
    for (std::size_t i = 0; i < num_directions_; ++i) {
      own[i] = taus(i, u);
      variance += variances(i, u) / static_cast<double>(num_directions_);
    }
    found[u] = {over_directions(over_, own, power_), std::sqrt(variance)};
  }
  return found;
}

double GroupedKqdPlan::tie_slack(double value) const {
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  // The mean over directions and its root add a few roundings to those of each direction.
  const double slack = grouped_gap_slack(value) + 32.0 * kEps * value;
  if (sums_of_gaps() || std::isinf(power_) || !(value > 0.0)) return slack;
  // Masses of levels are differences of numbers in [0, 1]: each of at most 512 pieces is off by 2 eps at most, and a
  // piece contributes at most the range to the power p. The derivative of the root takes that to the value.
  const double pieces = 2.0 * static_cast<double>(LineGrid::kMostBins);
  const double relative = std::pow(largest_range_ / value, power_ - 1.0);
  return slack + 4.0 * pieces * kEps * largest_range_ * relative / power_;
}

}  // namespace kqd
