#include "metrics/adaptive/directional_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/pooled_projections.hpp"

namespace kqd {

DirectionalBundle::DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries,
                                     GapWeight gap_weight, std::size_t num_rows, std::vector<double> row_weights,
                                     BundleMemory memory, ThreadCount threads)
    : directions_(std::move(directions)),
      summaries_(std::move(summaries)),
      gap_weight_(gap_weight),
      num_rows_(num_rows),
      row_weights_(std::move(row_weights)),
      directions_at_a_time_(
          std::min(directions_.count, directions_that_fit(memory.at_work, bytes_per_direction(num_rows)))) {
  const bool fits = directions_.count * KqdPlan::bytes_per_direction(num_rows) <= memory.kept;
  if (fits && directions_at_a_time_ == directions_.count) kept_ = sorted(0, directions_.count, threads);
}

std::size_t DirectionalBundle::kept_bytes() const {
  return kept_ == nullptr ? 0 : directions_.count * KqdPlan::bytes_per_direction(num_rows_);
}

std::vector<std::string> DirectionalBundle::names() const {
  std::vector<std::string> names;
  for (const GapSummary summary : summaries_) {
    const char* which = summary == GapSummary::average ? ", on average" : ", the largest";
    names.push_back(directions_.name + (directions_.count == 1 ? "" : which));
  }
  return names;
}

std::unique_ptr<const KqdPlan> DirectionalBundle::sorted(std::size_t first, std::size_t count,
                                                         ThreadCount threads) const {
  MethodOptions options;  // p = 1, uniform levels: the scan
  options.threads = threads;
  return std::make_unique<const KqdPlan>(directions_.project(first, count, threads), row_weights_, options, Over::mean,
                                         nullptr, gap_weight_);
}

void DirectionalBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                                 ThreadCount threads) const {
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::fill(values.row(r), 0.0);
  if (kept_ != nullptr) return add_gaps(*kept_, batches, values, threads);
  for (std::size_t first = 0; first < directions_.count; first += directions_at_a_time_) {
    stop_point();
    const std::size_t count = std::min(directions_at_a_time_, directions_.count - first);
    add_gaps(*sorted(first, count, threads), batches, values, threads);
  }
}

void DirectionalBundle::add_gaps(const KqdPlan& sorted, std::span<const LabelBatch> batches, MatrixView<double> values,
                                 ThreadCount threads) const {
  const std::vector<double> expected = sorted.expected_gaps();
  Matrix<double> taus(expected.size(), values.cols());
  sorted.evaluate_directions(batches, taus, threads);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(expected[i] > 0.0)) continue;  // all values are equal
    for (double& tau : taus.row(i)) tau /= expected[i];
    for (std::size_t r = 0; r < values.rows(); ++r) {
      const bool average = summaries_[r] == GapSummary::average;
      for (std::size_t k = 0; k < taus.cols(); ++k) {
        double& value = values(r, k);
        value = average ? value + taus(i, k) / static_cast<double>(directions_.count) : std::max(value, taus(i, k));
      }
    }
  }
}

double DirectionalBundle::tie_slack(std::size_t /*r*/, double value) const {
  // An expected gap is at least sqrt(F (1 - F)) of the range, with F = 1/n at the ends; a plain sum over l directions
  // adds at most l roundings to the scan of each.
  const auto n = static_cast<double>(num_rows_);
  const double range = n / std::sqrt(n - 1.0);
  return gap_scan_slack(value, range, num_rows_, !row_weights_.empty(), GapPrecision::single) +
         2.0 * static_cast<double>(directions_.count + 4) * std::numeric_limits<double>::epsilon() * value;
}

}  // namespace kqd
