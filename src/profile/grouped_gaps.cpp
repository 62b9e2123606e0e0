#include "profile/grouped_gaps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

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

// a b - c d of whole numbers, rounded once. Products with numbers of units are exact; those with numbers of rows may be
// too large for that.
double cross_difference(double a, double b, double c, double d, bool products_fit) {
  if (products_fit) return a * b - c * d;
  __extension__ using Wide = __int128;
  const auto whole = [](double v) { return static_cast<Wide>(static_cast<std::int64_t>(v)); };
  return static_cast<double>(whole(a) * whole(b) - whole(c) * whole(d));
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

UnitPermutations::UnitPermutations(std::span<const LabelBatch> batches, std::size_t count,
                                   std::span<const double> unit_rows)
    : labels_(batches, count),
      equal_units_(std::ranges::adjacent_find(unit_rows, std::not_equal_to<>()) == unit_rows.end()) {
  if (equal_units_) {
    total_size_ = batches.empty() ? 0.0 : static_cast<double>(batches.front().num_rows());
    for (std::size_t k = 0; k < count; ++k) {
      x_size_.push_back(static_cast<double>(batches[k / LabelBatch::kCapacity].num_x[k % LabelBatch::kCapacity]));
    }
    return;
  }
  total_size_ = std::accumulate(unit_rows.begin(), unit_rows.end(), 0.0);
  Matrix<double> of_x(count, 1, 0.0);
  simd::add_labelled_rows({unit_rows.data(), unit_rows.size(), 1}, labels_, 0, of_x);
  x_size_.assign(of_x.values().begin(), of_x.values().end());
}

std::vector<double> rows_per_bin(const GroupedLine& line) {
  std::vector<double> rows(line.grid.num_bins(), 0.0);
  for (std::size_t unit = 0; unit < line.counts.rows(); ++unit) {
    for (std::size_t b = 0; b < rows.size(); ++b) rows[b] += static_cast<double>(line.counts(unit, b));
  }
  return rows;
}

void weighted_gaps(const GroupedLine& line, std::span<const std::vector<double>> weights,
                   const UnitPermutations& permutations, MatrixView<double> taus) {
  const RowsBelow below = rows_below(line, permutations);
  const double rows = total_rows(line);
  const double size = permutations.total_size();
  std::vector<double> gaps(line.grid.edges.size());
  for (std::size_t k = 0; k < taus.cols(); ++k) {
    const double x_size = permutations.x_size(k);
    const double y_size = size - x_size;
    const auto of_x = below.sums.row(k);
    for (std::size_t b = 0; b < gaps.size(); ++b) {
      // F_X - F_Y in units of rows / (size x_size y_size): a difference of whole numbers.
      gaps[b] =
          std::abs(cross_difference(of_x[b], y_size, below.totals[b] - of_x[b], x_size, permutations.equal_units()));
    }
    for (std::size_t w = 0; w < weights.size(); ++w) {
      double total = 0.0;
      for (std::size_t b = 0; b < gaps.size(); ++b) total += weights[w][b] * gaps[b];
      taus(w, k) = x_size > 0.0 && y_size > 0.0 ? total / (x_size * y_size * (rows / size)) : 0.0;
    }
  }
}

void grouped_gaps(const GroupedLine& line, GapWeight weight, const UnitPermutations& permutations,
                  std::span<double> taus) {
  const std::vector<double> weights = line.grid.gap_weights(weight);
  weighted_gaps(line, {&weights, 1}, permutations, MatrixView<double>(taus.data(), 1, taus.size()));
}

void grouped_quantile_gaps(const GroupedLine& line, Power power, const LevelWeights& levels,
                           const UnitPermutations& permutations, std::span<double> taus) {
  const RowsBelow below = rows_below(line, permutations);
  const double rows = total_rows(line);
  const std::size_t gaps = line.grid.edges.size();
  BinnedQuantiles x;
  BinnedQuantiles y;
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const double x_rows = rows / permutations.total_size() * permutations.x_size(k);
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

void gaps_without_units(const GroupedLine& line, Power power, const LevelWeights& levels, const LabelBatch& observed,
                        std::span<double> taus) {
  const std::size_t bins = line.grid.num_bins();
  std::vector<double> x_counts(bins, 0.0);
  std::vector<double> y_counts(bins, 0.0);
  for (std::size_t u = 0; u < line.counts.rows(); ++u) {
    for (std::size_t b = 0; b < bins; ++b) (observed.is_x(u, 0) ? x_counts : y_counts)[b] += line.counts(u, b);
  }
  const double x_rows = std::accumulate(x_counts.begin(), x_counts.end(), 0.0);
  const double y_rows = std::accumulate(y_counts.begin(), y_counts.end(), 0.0);
  BinnedQuantiles x;
  BinnedQuantiles y;
  for (std::size_t u = 0; u < taus.size(); ++u) {
    const bool of_x = observed.is_x(u, 0);
    const auto own = line.counts.row(u);
    const double rows = std::accumulate(own.begin(), own.end(), 0.0);
    const auto add = [&](BinnedQuantiles& quantiles, const std::vector<double>& counts, double all, bool without) {
      quantiles.clear();
      double below = 0.0;
      for (std::size_t b = 0; b < bins; ++b) {
        const double count = counts[b] - (without ? static_cast<double>(own[b]) : 0.0);
        below += count;
        quantiles.add(line.grid.values[b], count, below, without ? all - rows : all);
      }
    };
    add(x, x_counts, x_rows, of_x);
    add(y, y_counts, y_rows, !of_x);
    taus[u] = quantile_gap(x.function(), y.function(), levels, power);
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
