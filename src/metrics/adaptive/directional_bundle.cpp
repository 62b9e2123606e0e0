#include "metrics/adaptive/directional_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "profile/grouped_gaps.hpp"

namespace kqd {

DirectionalBundle::DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries,
                                     GapWeight gap_weight, const Pool& rows, std::vector<double> row_weights,
                                     BundleMemory memory, ThreadCount threads)
    : directions_(std::move(directions)),
      summaries_(std::move(summaries)),
      gap_weight_(gap_weight),
      rows_(rows),
      row_weights_(std::move(row_weights)),
      directions_at_a_time_(
          std::min(directions_.count, directions_that_fit(memory.at_work, bytes_per_direction(rows.size())))) {
  const bool fits = directions_.count * KqdPlan::bytes_per_direction(rows.size()) <= memory.kept;
  if (fits && directions_at_a_time_ == directions_.count) kept_ = sorted(0, directions_.count, threads);
}

DirectionalBundle::DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries,
                                     GapWeight gap_weight, GroupedSummary& summary, ThreadCount threads)
    : directions_(std::move(directions)),
      summaries_(std::move(summaries)),
      gap_weight_(gap_weight),
      rows_{},
      data_(summary.data()),
      first_line_(summary.add_lines(directions_.functions.map, directions_.count, threads)) {}

DirectionalBundle::DirectionalBundle(BundleDirections directions, std::vector<GapSummary> summaries,
                                     GapWeight gap_weight, std::shared_ptr<const GroupedData> data,
                                     std::size_t first_line)
    : directions_(std::move(directions)),
      summaries_(std::move(summaries)),
      gap_weight_(gap_weight),
      rows_{},
      data_(std::move(data)),
      first_line_(first_line) {}

std::size_t DirectionalBundle::kept_bytes() const {
  return kept_ == nullptr ? 0 : directions_.count * KqdPlan::bytes_per_direction(rows_.size());
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
  return std::make_unique<const KqdPlan>(project_pool(*directions_.functions.map, rows_, first, count, threads),
                                         row_weights_, options, Over::mean, nullptr, gap_weight_);
}

void DirectionalBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                                 ThreadCount threads) const {
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::fill(values.row(r), 0.0);
  if (data_ != nullptr) return add_grouped_gaps(batches, values, threads);
  if (kept_ != nullptr) return add_sorted_gaps(*kept_, batches, values, threads);
  for (std::size_t first = 0; first < directions_.count; first += directions_at_a_time_) {
    stop_point();
    const std::size_t count = std::min(directions_at_a_time_, directions_.count - first);
    add_sorted_gaps(*sorted(first, count, threads), batches, values, threads);
  }
}

void DirectionalBundle::add_sorted_gaps(const KqdPlan& sorted, std::span<const LabelBatch> batches,
                                        MatrixView<double> values, ThreadCount threads) const {
  const std::vector<double> expected = sorted.expected_gaps();
  Matrix<double> taus(expected.size(), values.cols());
  sorted.evaluate_directions(batches, taus, threads);
  add_gaps(std::move(taus), expected, values);
}

void DirectionalBundle::add_grouped_gaps(std::span<const LabelBatch> batches, MatrixView<double> values,
                                         ThreadCount threads) const {
  const UnitPermutations permutations(batches, values.cols());
  std::vector<double> expected(directions_.count);
  Matrix<double> taus(expected.size(), values.cols());
  parallel_for_blocks(expected.size(), 1, threads, [&](std::size_t i, std::size_t) {
    const GroupedLine& line = data_->lines[first_line_ + i];
    expected[i] = expected_grouped_gap(line, gap_weight_);
    grouped_gaps(line, gap_weight_, permutations, taus.row(i));
  });
  add_gaps(std::move(taus), expected, values);
}

void DirectionalBundle::add_gaps(Matrix<double> taus, std::span<const double> expected,
                                 MatrixView<double> values) const {
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
  const double of_the_sum =
      2.0 * static_cast<double>(directions_.count + 4) * std::numeric_limits<double>::epsilon() * value;
  if (data_ != nullptr) return grouped_gap_slack(value) + of_the_sum;
  const auto n = static_cast<double>(rows_.size());
  const double range = n / std::sqrt(n - 1.0);
  return gap_scan_slack(value, range, rows_.size(), !row_weights_.empty(), GapPrecision::single) + of_the_sum;
}

}  // namespace kqd
