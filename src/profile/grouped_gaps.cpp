#include "profile/grouped_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kqd {
namespace {

// sums(k, b) = rows of X below gap b, that is in bins 0 .. b, in permutation k; totals[b] = rows of both.
struct RowsBelow {
  Matrix<double> sums;
  std::vector<double> totals;
};

RowsBelow rows_below(const GroupedLine& line, const UnitPermutations& permutations) {
  const std::size_t gaps = line.grid.edges.size();
  Matrix<double> below(line.counts.rows(), gaps);
  RowsBelow result{Matrix<double>(permutations.count(), gaps, 0.0), std::vector<double>(gaps, 0.0)};
  for (std::size_t unit = 0; unit < below.rows(); ++unit) {
    double count = 0.0;
    for (std::size_t b = 0; b < gaps; ++b) {
      count += static_cast<double>(line.counts(unit, b));
      below(unit, b) = count;
      result.totals[b] += count;
    }
  }
  simd::add_labelled_rows(below, permutations.labels(), 0, result.sums);
  return result;
}

double total_rows(const GroupedLine& line) {
  double rows = 0.0;
  for (const double count : rows_per_bin(line)) rows += count;
  return rows;
}

// The quantile function of a sample with so many rows below each gap, without bins that have none.
struct BinnedQuantiles {
  std::vector<double> values;
  std::vector<double> cumulative;

  void clear() {
    values.clear();
    cumulative.clear();
  }
  void add(double value, double count, double below, double rows) {
    if (!(count > 0.0)) return;
    values.push_back(value);
    cumulative.push_back(below / rows);
  }
  [[nodiscard]] QuantileFunction function() {
    cumulative.back() = 1.0;
    return {values, cumulative};
  }
};

}  // namespace

UnitPermutations::UnitPermutations(std::span<const LabelBatch> batches, std::size_t count)
    : labels_(batches, count), num_units_(batches.empty() ? 0 : batches.front().num_rows()) {
  for (std::size_t k = 0; k < count; ++k) {
    num_x_.push_back(batches[k / LabelBatch::kCapacity].num_x[k % LabelBatch::kCapacity]);
  }
}

std::vector<double> rows_per_bin(const GroupedLine& line) {
  std::vector<double> rows(line.grid.num_bins(), 0.0);
  for (std::size_t unit = 0; unit < line.counts.rows(); ++unit) {
    for (std::size_t b = 0; b < rows.size(); ++b) rows[b] += static_cast<double>(line.counts(unit, b));
  }
  return rows;
}

void grouped_gaps(const GroupedLine& line, GapWeight weight, const UnitPermutations& permutations,
                  std::span<double> taus) {
  const RowsBelow below = rows_below(line, permutations);
  const std::vector<double> weights = line.grid.gap_weights(weight);
  const double rows = total_rows(line);
  const auto units = static_cast<double>(permutations.num_units());
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const auto x_units = static_cast<double>(permutations.num_x(k));
    const double y_units = units - x_units;
    const auto of_x = below.sums.row(k);
    double total = 0.0;
    for (std::size_t b = 0; b < weights.size(); ++b) {
      // F_X - F_Y in units of 1 / (x_units y_units rows per unit): a difference of whole numbers.
      total += weights[b] * std::abs(of_x[b] * y_units - (below.totals[b] - of_x[b]) * x_units);
    }
    taus[k] = total / (x_units * y_units * (rows / units));
  }
}

void grouped_quantile_gaps(const GroupedLine& line, Power power, const LevelWeights& levels,
                           const UnitPermutations& permutations, std::span<double> taus) {
  const RowsBelow below = rows_below(line, permutations);
  const double rows = total_rows(line);
  const auto units = static_cast<double>(permutations.num_units());
  const std::size_t gaps = line.grid.edges.size();
  BinnedQuantiles x;
  BinnedQuantiles y;
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const double x_rows = rows / units * static_cast<double>(permutations.num_x(k));
    const double y_rows = rows - x_rows;
    x.clear();
    y.clear();
    double x_before = 0.0;
    double y_before = 0.0;
    for (std::size_t b = 0; b <= gaps; ++b) {
      const double x_below = b < gaps ? below.sums(k, b) : x_rows;
      const double y_below = b < gaps ? below.totals[b] - below.sums(k, b) : y_rows;
      x.add(line.grid.values[b], x_below - x_before, x_below, x_rows);
      y.add(line.grid.values[b], y_below - y_before, y_below, y_rows);
      x_before = x_below;
      y_before = y_below;
    }
    taus[k] = quantile_gap(x.function(), y.function(), levels, power);
  }
}

double expected_grouped_gap(const GroupedLine& line, GapWeight weight) {
  const std::vector<double> weights = line.grid.gap_weights(weight);
  const std::vector<double> rows = rows_per_bin(line);
  const double all = total_rows(line);
  double below = 0.0;
  double total = 0.0;
  for (std::size_t b = 0; b < weights.size(); ++b) {
    below += rows[b];
    const double share = below / all;
    total += weights[b] * std::sqrt(share * (1.0 - share));
  }
  return total;
}

double grouped_gap_slack(double tau) {
  // A sum of at most 255 terms that are not negative, each rounded twice, in both evaluations.
  return 2.0 * (static_cast<double>(LineGrid::kMostBins) + 4.0) * std::numeric_limits<double>::epsilon() * tau;
}

}  // namespace kqd
