#include "explain/direction_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <span>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/label_lanes.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "simd/label_scan.hpp"
#include "simd/label_words.hpp"
#include "testing/labelling_run.hpp"
#include "testing/sequential.hpp"

namespace kqd {
namespace {

constexpr std::uint64_t kEnoughExceedances = 100;
constexpr std::uint64_t kEnumerationLimit = 20'000;
constexpr double kTail = 0.1;
constexpr double kTailDiscount = 0.8;

// The whole of a line, its lowest and its highest tenth.
enum Part { kWhole, kLowest, kHighest, kNumParts };

// sum sqrt(F (1 - F)) gap over each part: what its share of tau_1 is proportional to on average over labellings.
using PartSizes = std::array<double, kNumParts>;

// The labellings of one call, for lines one after the other.
class Labels {
 public:
  Labels(std::span<const LabelBatch> batches, std::size_t count, std::span<const double> weights)
      : batches_(batches), weights_(weights) {
    for (const LabelBatch& batch : batches) {
      for (unsigned b = 0; b < batch.count && num_x_.size() < count; ++b) num_x_.push_back(batch.num_x[b]);
    }
    if (weights.empty()) {
      words_ = simd::side_by_side(batches);
    } else {
      weigh_groups();
    }
  }

  [[nodiscard]] std::size_t count() const { return num_x_.size(); }

  // values[k] = the part of tau_1 that lies within gaps [first, last) of the sorted pool, for the k-th labelling.
  void gaps_within(const simd::SortedPool& pool, std::size_t first, std::size_t last, std::span<double> values) const {
    if (first == 0 && last + 1 == pool.num_rows()) return gaps(pool, values);
    std::vector<double> clamped(pool.values.begin(), pool.values.end());
    std::fill_n(clamped.begin(), first, pool.values[first]);
    std::fill(clamped.begin() + static_cast<std::ptrdiff_t>(last), clamped.end(), pool.values[last]);
    gaps({clamped, pool.order}, values);
  }

 private:
  // values[k] = tau_1 for the k-th labelling.
  void gaps(const simd::SortedPool& pool, std::span<double> values) const {
    if (!weights_.empty()) return weighted_gaps(pool, values);
    const std::size_t n = pool.num_rows();
    if (std::ranges::all_of(num_x_, [&](std::size_t nx) { return 2 * nx == n; })) {
      simd::label_scan_equal(pool, words_, values);
    } else {
      simd::label_scan(pool, words_, num_x_, values);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto nx = static_cast<double>(num_x_[k]);
      values[k] *= static_cast<double>(n) / (nx * (static_cast<double>(n) - nx));
    }
  }

  void weigh_groups() {
    for (const LabelBatch& batch : batches_) {
      LabelLanes of_x{};
      LabelLanes bits{};
      double total = 0.0;
      for (std::size_t i = 0; i < batch.num_rows(); ++i) {
        expand_bits(batch.words[i], bits);
        for (std::size_t b = 0; b < bits.size(); ++b) of_x[b] += bits[b] * weights_[i];
        total += weights_[i];
      }
      x_weights_.push_back(of_x);
      total_weight_ = total;
    }
  }

  // |F_x - F_y| summed over the gaps, 64 labellings side by side.
  void weighted_gaps(const simd::SortedPool& pool, std::span<double> values) const {
    std::size_t first = 0;
    for (std::size_t g = 0; g < batches_.size(); ++g) {
      LabelLanes per_x{};
      LabelLanes per_y{};
      for (std::size_t b = 0; b < per_x.size(); ++b) {
        per_x[b] = x_weights_[g][b] > 0.0 ? 1.0 / x_weights_[g][b] : 0.0;
        const double of_y = total_weight_ - x_weights_[g][b];
        per_y[b] = of_y > 0.0 ? 1.0 / of_y : 0.0;
      }
      LabelLanes bits{};
      LabelLanes x_below{};
      LabelLanes sums{};
      double below = 0.0;
      for (std::size_t k = 0; k + 1 < pool.num_rows(); ++k) {
        const std::uint32_t row = pool.order[k];
        const double w = weights_[row];
        const double gap = pool.values[k + 1] - pool.values[k];
        below += w;
        expand_bits(batches_[g].words[row], bits);
        for (std::size_t b = 0; b < bits.size(); ++b) {
          x_below[b] += bits[b] * w;
          sums[b] += std::abs(x_below[b] * per_x[b] - (below - x_below[b]) * per_y[b]) * gap;
        }
      }
      const std::size_t count = std::min<std::size_t>(batches_[g].count, values.size() - first);
      std::copy_n(sums.begin(), count, values.begin() + static_cast<std::ptrdiff_t>(first));
      first += count;
    }
  }

  std::span<const LabelBatch> batches_;
  std::span<const double> weights_;
  std::vector<std::size_t> num_x_;
  Matrix<std::uint64_t> words_;
  std::vector<LabelLanes> x_weights_;
  double total_weight_ = 0.0;
};

// The sorted pool along one direction, and the test that goes on along it.
class Line {
 public:
  Line(simd::SortedPool pool, std::span<const double> weights, std::unique_ptr<SequentialTest> test)
      : pool_(pool), test_(std::move(test)) {
    const std::vector<double> levels = pooled_levels(pool.order, weights);
    lowest_end_ = static_cast<std::size_t>(std::ranges::lower_bound(levels, kTail) - levels.begin());
    highest_begin_ = static_cast<std::size_t>(std::ranges::upper_bound(levels, 1.0 - kTail) - levels.begin());
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const double size = std::sqrt(levels[k] * (1.0 - levels[k])) * (pool.values[k + 1] - pool.values[k]);
      sizes_[kWhole] += size;
      if (k < lowest_end_) sizes_[kLowest] += size;
      if (k >= highest_begin_) sizes_[kHighest] += size;
    }
  }

  [[nodiscard]] bool is_done() const { return is_done_ || !(sizes_[kWhole] > 0.0); }
  [[nodiscard]] double score() const { return observed_; }
  [[nodiscard]] double pvalue() const { return sizes_[kWhole] > 0.0 ? test_->pvalue() : 1.0; }

  // Compares further labellings with the observed one, which is the very first.
  void add(const Labels& labels, double chance, double relative_slack) {
    std::vector<double> scores(labels.count(), 0.0);
    std::vector<double> part(labels.count());
    for (std::size_t p = 0; p < kNumParts; ++p) {
      if (!(sizes_[p] > 0.0)) continue;
      const std::size_t first = p == kHighest ? highest_begin_ : 0;
      const std::size_t last = p == kLowest ? lowest_end_ : pool_.num_rows() - 1;
      labels.gaps_within(pool_, first, last, part);
      const double factor = (p == kWhole ? 1.0 : kTailDiscount) / (sizes_[p] * chance);
      for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = std::max(scores[k], factor * part[k]);
    }
    std::size_t begin = 0;
    if (!has_observed_) {
      has_observed_ = true;
      observed_ = scores.front();
      begin = 1;
    }
    // A labelling that merely reorders the observed sums gives the observed value up to rounding.
    const double threshold = observed_ - relative_slack * observed_;
    for (std::size_t k = begin; k < scores.size() && !is_done_; ++k) is_done_ = test_->add(scores[k] >= threshold);
  }

 private:
  simd::SortedPool pool_;
  std::unique_ptr<SequentialTest> test_;
  PartSizes sizes_{};
  std::size_t lowest_end_ = 0;
  std::size_t highest_begin_ = 0;
  bool has_observed_ = false;
  bool is_done_ = false;
  double observed_ = 0.0;
};

// Sums of non-negative terms keep the relative error of their arithmetic; running weights are rounded once per row.
double relative_slack(std::size_t num_rows, bool weighted) {
  const double eps = std::numeric_limits<double>::epsilon();
  return weighted ? 64.0 * static_cast<double>(num_rows) * eps : scan_relative_slack(num_rows) + 16.0 * eps;
}

// While a direction is scanned: values, a sorted copy, order; the scratch of a thread is small beside it.
std::size_t directions_at_a_time(std::size_t num_rows, std::size_t max_bytes) {
  constexpr std::size_t kDefaultBytes = std::size_t{512} << 20U;
  const std::size_t bytes = max_bytes > 0 ? max_bytes : kDefaultBytes;
  const std::size_t per_direction = num_rows * (3 * sizeof(double) + sizeof(std::uint32_t));
  const std::size_t count = bytes / per_direction;
  // Multiples of eight fill the tiles of a matrix product, so values do not depend on the bound.
  return std::max<std::size_t>(1, count >= 8 ? count / 8 * 8 : count);
}

// The factor that makes scores about 1 by chance; the same for all labellings, so no p-value feels it.
double chance_factor(const LabelBatch& observed) {
  const auto nx = static_cast<double>(observed.num_x[0]);
  const auto n = static_cast<double>(observed.num_rows());
  return std::sqrt(2.0 / std::numbers::pi * n / (nx * (n - nx)));
}

// Some directions at a time, through all labellings.
class Round {
 public:
  Round(PooledProjections sorted, const LabellingSource& source, const DirectionTestOptions& options)
      : sorted_(std::move(sorted)), run_(source, options.num_permutations, kEnumerationLimit), options_(options) {
    source.fill(LabellingMode::random, 0, 1, observed_);
    for (std::size_t i = 0; i < sorted_.values.rows(); ++i) {
      if (!std::isfinite(sorted_.units[i])) {
        fail(ErrorCode::non_finite_value, "the values of a column or direction span more than the largest number; {}",
             kOverflowAdvice);
      }
      lines_.emplace_back(pool(i), options.weights,
                          run_.enumerated() ? make_sequential_test(EarlyStop::none, 0.5, run_.num_labellings())
                                            : make_besag_clifford_test(kEnoughExceedances));
    }
  }

  [[nodiscard]] const LabellingRun& run() const { return run_; }

  // report(share) is told how far it is.
  void go(const std::function<void(double share)>& report) {
    const double chance = chance_factor(observed_);
    const double slack = relative_slack(observed_.num_rows(), !options_.weights.empty());
    while (run_.num_done() < run_.num_labellings()) {
      stop_point();
      const std::vector<std::size_t> open = open_lines();
      const auto done = static_cast<double>(run_.num_done()) / static_cast<double>(run_.num_labellings());
      report(1.0 - (1.0 - done) * static_cast<double>(open.size()) / static_cast<double>(lines_.size()));
      if (open.empty()) return;
      const std::uint64_t before = run_.num_done();
      const auto batches = run_.next(simd::kMaxLabelWords, options_.threads);
      const Labels labels(batches, run_.num_done() - before, options_.weights);
      parallel_for_blocks(open.size(), 1, options_.threads,
                          [&](std::size_t k, std::size_t) { lines_[open[k]].add(labels, chance, slack); });
    }
  }

  void add_results(std::vector<TestedDirection>& results) const {
    const std::size_t first = results.size();
    results.resize(first + lines_.size());
    parallel_for_blocks(lines_.size(), 1, options_.threads, [&](std::size_t i, std::size_t) {
      results[first + i] = {gap_shape({pool(i), sorted_.units[i], options_.weights, observed_}), lines_[i].score(),
                            lines_[i].pvalue()};
    });
  }

 private:
  [[nodiscard]] simd::SortedPool pool(std::size_t i) const { return {sorted_.values.row(i), sorted_.order.row(i)}; }

  [[nodiscard]] std::vector<std::size_t> open_lines() const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (!lines_[i].is_done()) open.push_back(i);
    }
    return open;
  }

  PooledProjections sorted_;
  LabellingRun run_;
  const DirectionTestOptions& options_;
  LabelBatch observed_;
  std::vector<Line> lines_;
};

}  // namespace

DirectionTests test_directions(const DirectionFamilyView& family, const LabellingSource& source,
                               const DirectionTestOptions& options, const RunControl* control) {
  DirectionTests tests;
  const std::size_t step = directions_at_a_time(source.num_rows(), options.max_bytes);
  for (std::size_t first = 0; first < family.count; first += step) {
    stop_point();
    const std::size_t count = std::min(step, family.count - first);
    Round round(sort_projections(family.project(first, count, options.threads), Clock::values, options.threads), source,
                options);
    round.go([&](double share) {
      if (control == nullptr || !control->progress) return;
      control->progress({.done = static_cast<double>(first) + share * static_cast<double>(count),
                         .total = static_cast<double>(family.count),
                         .what = "directions",
                         .counted = true});
    });
    round.add_results(tests.directions);
    tests.enumerated = round.run().enumerated();
    tests.n_resamples = round.run().num_labellings() - (tests.enumerated ? 0 : 1);
  }
  return tests;
}

}  // namespace kqd
