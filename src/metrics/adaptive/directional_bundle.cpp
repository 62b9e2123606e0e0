#include "metrics/adaptive/directional_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/pooled_projections.hpp"

namespace kqd {
DirectionalBundle::DirectionalBundle(std::string name, std::vector<GapSummary> summaries, std::size_t num_directions,
                                     std::size_t num_rows, Project project, std::vector<double> weights, Clock clock,
                                     std::size_t max_bytes)
    : name_(std::move(name)),
      summaries_(std::move(summaries)),
      num_directions_(num_directions),
      num_rows_(num_rows),
      project_(std::move(project)),
      weights_(std::move(weights)),
      clock_(clock),
      directions_at_a_time_(std::min(num_directions, directions_that_fit(max_bytes, bytes_per_direction(num_rows)))) {}

std::vector<std::string> DirectionalBundle::names() const {
  std::vector<std::string> names;
  for (const GapSummary summary : summaries_) {
    if (num_directions_ == 1)
      names.push_back(name_);
    else
      names.push_back(name_ + (summary == GapSummary::average ? ", on average" : ", the largest"));
  }
  return names;
}

void DirectionalBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                                 ThreadCount threads) const {
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::fill(values.row(r), 0.0);
  MethodOptions options;  // p = 1, uniform levels: the scan
  options.threads = threads;
  for (std::size_t first = 0; first < num_directions_; first += directions_at_a_time_) {
    stop_point();
    const std::size_t count = std::min(directions_at_a_time_, num_directions_ - first);
    const KqdPlan plan(project_(first, count, threads), weights_, options, Over::mean, nullptr, clock_);
    const std::vector<double> expected = plan.expected_gaps();
    Matrix<double> taus(count, values.cols());
    plan.evaluate_directions(batches, taus, threads);
    for (std::size_t i = 0; i < count; ++i) {
      if (!(expected[i] > 0.0)) continue;  // all values equal: nothing to see
      for (double& tau : taus.row(i)) tau /= expected[i];
      for (std::size_t r = 0; r < values.rows(); ++r) {
        const bool average = summaries_[r] == GapSummary::average;
        for (std::size_t k = 0; k < taus.cols(); ++k) {
          double& value = values(r, k);
          value = average ? value + taus(i, k) / static_cast<double>(num_directions_) : std::max(value, taus(i, k));
        }
      }
    }
  }
}

double DirectionalBundle::tie_slack(std::size_t /*r*/, double value) const {
  // An expected gap is at least sqrt(F (1 - F)) of the range, with F = 1/n at the ends; a plain sum over l directions
  // adds at most l roundings to the scan of each.
  const auto n = static_cast<double>(num_rows_);
  const double range = n / std::sqrt(n - 1.0);
  return gap_scan_slack(value, range, num_rows_, !weights_.empty(), GapPrecision::single) +
         2.0 * static_cast<double>(num_directions_ + 4) * std::numeric_limits<double>::epsilon() * value;
}

}  // namespace kqd
