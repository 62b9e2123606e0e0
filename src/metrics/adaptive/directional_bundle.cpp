#include "metrics/adaptive/directional_bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "profile/grouped_gaps.hpp"

namespace kqd {
namespace {

// Labels of some rows.
std::vector<LabelBatch> labels_at(std::span<const LabelBatch> batches, std::span<const std::size_t> positions) {
  std::vector<LabelBatch> made(batches.size());
  for (std::size_t g = 0; g < batches.size(); ++g) {
    made[g].count = batches[g].count;
    made[g].words.reserve(positions.size());
    for (const std::size_t i : positions) made[g].words.push_back(batches[g].words[i]);
    for (unsigned b = 0; b < batches[g].count; ++b) {
      for (const std::uint64_t word : made[g].words) made[g].num_x[b] += (word >> b) & 1U;
    }
  }
  return made;
}

// Gaps of permutations that leave one sample without any of the rows are 0.
void leave_out_empty_samples(std::span<const LabelBatch> batches, std::span<double> taus) {
  for (std::size_t k = 0; k < taus.size(); ++k) {
    const LabelBatch& batch = batches[k / LabelBatch::kCapacity];
    const std::size_t of_x = batch.num_x[k % LabelBatch::kCapacity];
    if (of_x == 0 || of_x == batch.num_rows()) taus[k] = 0.0;
  }
}

}  // namespace

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
  return kept_.empty() ? 0 : directions_.count * KqdPlan::bytes_per_direction(rows_.size());
}

std::vector<std::string> DirectionalBundle::names() const {
  std::vector<std::string> names;
  for (const GapSummary summary : summaries_) {
    const char* which = summary == GapSummary::average ? ", on average" : ", the largest";
    names.push_back(directions_.name + (directions_.count == 1 ? "" : which));
  }
  return names;
}

std::vector<DirectionalBundle::SortedPart> DirectionalBundle::sorted(std::size_t first, std::size_t count,
                                                                     ThreadCount threads) const {
  MethodOptions options;  // p = 1, uniform levels: the scan
  options.threads = threads;
  Matrix<double> projections = project_pool(*directions_.functions.map, rows_, first, count, threads);
  std::vector<SortedPart> parts;
  const auto add = [&](std::vector<std::size_t> positions, Matrix<double> values, std::vector<double> weights) {
    parts.push_back({std::move(positions), std::make_unique<const KqdPlan>(std::move(values), std::move(weights),
                                                                           options, Over::mean, nullptr, gap_weight_)});
  };
  std::vector<std::size_t> complete;
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = projections.row(i);
    std::vector<std::size_t> positions;
    const auto missing = [](double value) { return std::isnan(value); };
    if (std::ranges::none_of(values, missing)) {
      complete.push_back(i);
      continue;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!missing(values[k])) positions.push_back(k);
    }
    if (positions.size() < 2) continue;
    Matrix<double> own(1, positions.size());
    std::vector<double> weights;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      own(0, k) = values[positions[k]];
      if (!row_weights_.empty()) weights.push_back(row_weights_[positions[k]]);
    }
    add(std::move(positions), std::move(own), std::move(weights));
  }
  if (complete.size() < count) {
    for (std::size_t i = 0; i < complete.size(); ++i) {
      if (i != complete[i]) std::ranges::copy(projections.row(complete[i]), projections.row(i).begin());
    }
    projections = Matrix<double>(projections.view().row_range(0, complete.size()));
  }
  if (!complete.empty()) add({}, std::move(projections), row_weights_);
  return parts;
}

void DirectionalBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                                 ThreadCount threads) const {
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::fill(values.row(r), 0.0);
  if (data_ != nullptr) return add_grouped_gaps(batches, values, threads);
  if (!kept_.empty()) return add_sorted_gaps(kept_, batches, values, threads);
  for (std::size_t first = 0; first < directions_.count; first += directions_at_a_time_) {
    stop_point();
    const std::size_t count = std::min(directions_at_a_time_, directions_.count - first);
    add_sorted_gaps(sorted(first, count, threads), batches, values, threads);
  }
}

void DirectionalBundle::add_sorted_gaps(const std::vector<SortedPart>& parts, std::span<const LabelBatch> batches,
                                        MatrixView<double> values, ThreadCount threads) const {
  for (const auto& [positions, plan] : parts) {
    std::vector<double> expected = plan->expected_gaps();
    Matrix<double> taus(expected.size(), values.cols());
    if (positions.empty()) {
      plan->evaluate_directions(batches, taus, threads);
    } else {
      const std::vector<LabelBatch> own = labels_at(batches, positions);
      plan->evaluate_directions(own, taus, threads);
      for (std::size_t i = 0; i < taus.rows(); ++i) leave_out_empty_samples(own, taus.row(i));
      const double share = static_cast<double>(positions.size()) / static_cast<double>(rows_.size());
      for (double& gap : expected) gap /= std::sqrt(share);
    }
    add_gaps(std::move(taus), expected, values);
  }
}

void DirectionalBundle::add_grouped_gaps(std::span<const LabelBatch> batches, MatrixView<double> values,
                                         ThreadCount threads) const {
  const UnitPermutations permutations(batches, values.cols(), data_->unit_rows);
  std::vector<double> expected(directions_.count);
  Matrix<double> taus(expected.size(), values.cols());
  parallel_for_blocks(expected.size(), 1, threads, [&](std::size_t i, std::size_t) {
    const GroupedLine& line = data_->lines[first_line_ + i];
    expected[i] = expected_grouped_gap(line, gap_weight_);
    const std::vector<double> rows = line.unit_rows();
    if (rows == data_->unit_rows) return grouped_gaps(line, gap_weight_, permutations, taus.row(i));
    const double share = sum(rows) / sum(data_->unit_rows);
    expected[i] /= std::sqrt(share);
    grouped_gaps(line, gap_weight_, UnitPermutations(batches, values.cols(), rows), taus.row(i));
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
