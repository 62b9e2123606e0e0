#include "explain/direction_tests.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "explain/density.hpp"
#include "explain/labelled_cells.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/quantile/gap_scan.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "simd/label_words.hpp"

namespace kqd {
namespace {

constexpr std::uint64_t kEnoughExceedances = 100;
constexpr std::uint64_t kEnumerationLimit = 20'000;
constexpr double kTail = 0.1;
constexpr double kTailDiscount = 0.8;
constexpr std::uint64_t kBatchOfOthers = std::uint64_t{1} << 40U;  // beyond the batches of any test

// A stretch of a line: all of it, the lowest tenth, or the highest tenth in reverse order.
struct Stretch {
  simd::SortedPool rows;
  GapPrecision precision = GapPrecision::single;
  double factor = 0.0;  // scales its part of tau_1 to a score of about 1 under the null hypothesis
};

double mean_along(const GapScan& permutations, const simd::SortedPool& rows, GapPrecision precision) {
  std::vector<double> taus(permutations.count());
  permutations.along(rows, precision, taus);
  for (double& tau : taus) tau = std::isfinite(tau) ? tau : 0.0;  // one sample has no row with a value
  return sum(taus) / static_cast<double>(taus.size());
}

// The sorted pool along one direction, and the state of its sequential test.
class Line {
 public:
  /// `others` are permutations of the design that the test does not use; they estimate the mean of each stretch under
  /// the null hypothesis. Null for unrestricted permutations, which have a formula.
  Line(const LabelledLine& line, const GapScan* others, std::unique_ptr<SequentialTest> test)
      : test_(std::move(test)), weighted_(!line.weights.empty()) {
    const std::span<const double> values = line.pool.values;
    const std::span<const std::uint32_t> order = line.pool.order;
    const auto last = values.size() - 1;
    const auto place_of = [&](auto found) { return static_cast<std::size_t>(found - line.levels.begin()); };
    const std::size_t low_end = place_of(std::ranges::lower_bound(line.levels, kTail));
    const std::size_t high_begin = place_of(std::ranges::upper_bound(line.levels, 1.0 - kTail));
    const auto add = [&](simd::SortedPool rows, std::size_t first, std::size_t end, double discount) {
      const GapPrecision precision = precision_for(rows.values);
      const double expected = others != nullptr
                                  ? mean_along(*others, rows, precision)
                                  : line.null_factor * expected_gap(values.subspan(first, end - first + 1),
                                                                    line.levels.subspan(first, end - first));
      if (expected > 0.0) stretches_.push_back({rows, precision, discount / expected});
    };
    turn_around(values.subspan(high_begin), order.subspan(high_begin));
    add(line.pool, 0, last, 1.0);
    add({values.first(low_end + 1), order.first(low_end + 1)}, 0, low_end, kTailDiscount);
    add({highest_values_, highest_order_}, high_begin, last, kTailDiscount);
  }

  [[nodiscard]] bool is_done() const { return is_done_ || stretches_.empty(); }
  [[nodiscard]] double score() const { return observed_; }
  [[nodiscard]] double pvalue() const { return stretches_.empty() ? 1.0 : test_->pvalue(); }

  // Compares further permutations with the observed labels, which are the first one ever added.
  void add(const GapScan& permutations, std::size_t num_rows) {
    std::vector<double> scores(permutations.count(), 0.0);
    std::vector<double> taus(permutations.count());
    for (const Stretch& stretch : stretches_) {
      permutations.along(stretch.rows, stretch.precision, taus);
      // Where a permutation leaves one sample no row with a value, tau is not a number, and its score remains 0.
      for (std::size_t k = 0; k < scores.size(); ++k) scores[k] = std::max(scores[k], stretch.factor * taus[k]);
    }
    std::size_t begin = 0;
    if (!has_observed_) {
      has_observed_ = true;
      observed_ = scores.front();
      begin = 1;
    }
    // A permutation that merely reorders the observed sums gives the observed value up to rounding.
    const double threshold = observed_ - slack(num_rows);
    for (std::size_t k = begin; k < scores.size() && !is_done_; ++k) is_done_ = test_->add(scores[k] >= threshold);
  }

 private:
  // The highest rows in descending order, negated, so that they look like the lowest rows of a line.
  void turn_around(std::span<const double> values, std::span<const std::uint32_t> order) {
    for (std::size_t k = values.size(); k-- > 0;) {
      highest_values_.push_back(-values[k]);
      highest_order_.push_back(order[k]);
    }
  }

  [[nodiscard]] double slack(std::size_t num_rows) const {
    double largest = 0.0;
    for (const auto& [rows, precision, factor] : stretches_) {
      const double range = rows.values.back() - rows.values.front();
      largest = std::max(largest, factor * gap_scan_slack(observed_ / factor, range, num_rows, weighted_, precision));
    }
    return largest;
  }

  std::unique_ptr<SequentialTest> test_;
  bool weighted_;
  std::vector<double> highest_values_;
  std::vector<std::uint32_t> highest_order_;
  std::vector<Stretch> stretches_;  // none: all values are equal
  bool has_observed_ = false;
  bool is_done_ = false;
  double observed_ = 0.0;
};

// Memory of a scanned direction: values, a sorted copy, and their order. The scratch memory of a thread is small.
std::size_t directions_at_a_time(std::size_t num_rows, std::size_t max_bytes) {
  constexpr std::size_t kDefaultBytes = std::size_t{512} << 20U;
  return directions_that_fit(max_bytes > 0 ? max_bytes : kDefaultBytes,
                             num_rows * (3 * sizeof(double) + sizeof(std::uint32_t)));
}

// A sorted line of the rows that have a value: the others enter neither the values nor the labels.
struct PartOfPool {
  std::vector<std::uint32_t> rows;  // positions in the pool, ascending
  std::vector<double> values;
  std::vector<std::uint32_t> order;  // among `rows`
  std::vector<double> weights;
  std::vector<double> levels;
  LabelBatch observed;
  double null_factor = 0.0;

  PartOfPool(std::vector<std::uint32_t> kept, const simd::SortedPool& line, const LabelBatch& all_observed,
             std::span<const double> all_weights)
      : rows(std::move(kept)), observed(labels_of(all_observed, rows)) {
    constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> place(line.num_rows(), kAbsent);
    for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<std::uint32_t>(i);
    for (std::size_t k = 0; k < line.num_rows(); ++k) {
      if (place[line.order[k]] == kAbsent) continue;
      values.push_back(line.values[k]);
      order.push_back(place[line.order[k]]);
    }
    for (const std::uint32_t row : all_weights.empty() ? std::span<const std::uint32_t>() : std::span(rows)) {
      weights.push_back(all_weights[row]);
    }
    levels = pooled_levels(order, weights);
    if (has_both()) null_factor = null_gap_factor(observed, weights);
  }

  // Both samples have a row with a value.
  [[nodiscard]] bool has_both() const { return observed.num_x[0] > 0 && observed.num_x[0] < rows.size(); }
};

// Some directions at a time, through all permutations.
class Round {
 public:
  // `parts`: per direction, the rows that have a value; empty: all.
  Round(PooledProjections sorted, const PermutationSource& source, const DirectionTestOptions& options,
        std::vector<std::vector<std::uint32_t>> parts)
      : sorted_(std::move(sorted)), run_(direction_permutations(source, options)), options_(options) {
    source.fill(PermutationMode::random, 0, 1, observed_);
    null_factor_ = null_gap_factor(observed_, options.weights);
    const std::size_t count = sorted_.values.rows();
    parts_.resize(count);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].empty()) continue;
      parts_[i].emplace(std::move(parts[i]), simd::SortedPool{sorted_.values.row(i), sorted_.order.row(i)}, observed_,
                        options.weights);
    }
    // Without weights all directions have the same levels.
    for (std::size_t i = 0; i < (options.weights.empty() ? std::min<std::size_t>(1, count) : count); ++i) {
      levels_.push_back(pooled_levels(sorted_.order.row(i), options.weights));
    }
    if (!std::ranges::all_of(sorted_.units, [](double unit) { return std::isfinite(unit); })) {
      fail(ErrorCode::non_finite_value, "the range of a column or direction exceeds the largest double; {}",
           kOverflowAdvice);
    }
    lines_.resize(count);
    // With pairs, blocks and clusters a tail that no permutation changes must not dominate the score.
    LabelBatch others;
    std::optional<GapScan> scan;
    if (options.restricted) {
      source.fill(PermutationMode::random, kBatchOfOthers, LabelBatch::kCapacity, others);
      scan.emplace(std::span(&others, 1), LabelBatch::kCapacity, options.weights);
    }
    parallel_for_blocks(count, 1, options.threads, [&](std::size_t i, std::size_t) {
      if (parts_[i] && !parts_[i]->has_both()) return;
      std::optional<GapScan> own;
      LabelBatch part_of_others;
      if (scan && parts_[i]) {
        part_of_others = labels_of(others, parts_[i]->rows);
        own.emplace(std::span(&part_of_others, 1), LabelBatch::kCapacity, parts_[i]->weights);
      }
      lines_[i].emplace(line(i), own ? &*own : scan ? &*scan : nullptr, direction_stopping(run_));
    });
  }

  [[nodiscard]] const PermutationRun& run() const { return run_; }

  // Calls report(share) with the share of the work that is done.
  void go(const std::function<void(double share)>& report) {
    while (run_.num_done() < run_.permutation_count()) {
      stop_point();
      const std::vector<std::size_t> open = open_lines();
      const auto done = static_cast<double>(run_.num_done()) / static_cast<double>(run_.permutation_count());
      report(1.0 - (1.0 - done) * static_cast<double>(open.size()) / static_cast<double>(lines_.size()));
      if (open.empty()) return;
      const std::uint64_t before = run_.num_done();
      const auto batches = run_.next(simd::kMaxLabelWords, options_.threads);
      const GapScan permutations(batches, run_.num_done() - before, options_.weights);
      const std::size_t count = run_.num_done() - before;
      parallel_for_blocks(open.size(), 1, options_.threads, [&](std::size_t k, std::size_t) {
        const auto& part = parts_[open[k]];
        if (!part) return lines_[open[k]]->add(permutations, observed_.num_rows());
        std::vector<LabelBatch> labels;
        for (const LabelBatch& batch : batches) labels.push_back(labels_of(batch, part->rows));
        lines_[open[k]]->add(GapScan(labels, count, part->weights), part->rows.size());
      });
    }
  }

  [[nodiscard]] TestedDirection result(std::size_t i) const {
    if (!lines_[i]) return {};  // one sample has no value
    return {gap_shape(line(i)), lines_[i]->score(), lines_[i]->pvalue(), {}};
  }
  [[nodiscard]] ProjectedDensity density(std::size_t i) const {
    return lines_[i] ? projected_density(line(i)) : ProjectedDensity{};
  }
  [[nodiscard]] std::size_t count() const { return lines_.size(); }

 private:
  [[nodiscard]] LabelledLine line(std::size_t i) const {
    if (const auto& part = parts_[i]) {
      return {.pool = {part->values, part->order},
              .origin = sorted_.origins[i],
              .unit = sorted_.units[i],
              .weights = part->weights,
              .levels = part->levels,
              .observed = part->observed,
              .null_factor = part->null_factor};
    }
    return {.pool = {sorted_.values.row(i), sorted_.order.row(i)},
            .origin = sorted_.origins[i],
            .unit = sorted_.units[i],
            .weights = options_.weights,
            .levels = levels_[options_.weights.empty() ? 0 : i],
            .observed = observed_,
            .null_factor = null_factor_};
  }

  [[nodiscard]] std::vector<std::size_t> open_lines() const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i] && !lines_[i]->is_done()) open.push_back(i);
    }
    return open;
  }

  PooledProjections sorted_;
  PermutationRun run_;
  const DirectionTestOptions& options_;
  LabelBatch observed_;
  double null_factor_ = 0.0;
  std::vector<std::vector<double>> levels_;
  std::vector<std::optional<PartOfPool>> parts_;
  std::vector<std::optional<Line>> lines_;  // empty: nothing to compare
};

// Adds the results of a round, and densities of the strongest directions so far, while their values are in memory.
void add_results(const Round& round, const DirectionTestOptions& options, std::vector<TestedDirection>& results) {
  const std::size_t first = results.size();
  results.resize(first + round.count());
  parallel_for_blocks(round.count(), 1, options.threads,
                      [&](std::size_t i, std::size_t) { results[first + i] = round.result(i); });
  std::vector<std::size_t> shown = ranked(results);
  shown.resize(std::min(shown.size(), options.num_shown));
  std::erase_if(shown, [&](std::size_t i) { return i < first; });
  for (std::size_t i = first; i < std::min(results.size(), options.num_drawn); ++i) {
    if (std::ranges::find(shown, i) == shown.end()) shown.push_back(i);
  }
  parallel_for_blocks(shown.size(), 1, options.threads,
                      [&](std::size_t k, std::size_t) { results[shown[k]].density = round.density(shown[k] - first); });
}

}  // namespace

PermutationRun direction_permutations(const PermutationSource& source, const DirectionTestOptions& options) {
  return {source, options.num_permutations, kEnumerationLimit};
}

std::unique_ptr<SequentialTest> direction_stopping(const PermutationRun& run) {
  return run.enumerated() ? make_sequential_test(EarlyStop::none, 0.5, run.permutation_count())
                          : make_besag_clifford_test(kEnoughExceedances);
}

std::vector<std::size_t> ranked(std::span<const TestedDirection> directions) {
  std::vector<std::size_t> order(directions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (directions[a].pvalue != directions[b].pvalue) return directions[a].pvalue < directions[b].pvalue;
    return directions[a].score > directions[b].score;
  });
  return order;
}

DirectionTests test_directions(const DirectionFamilyView& family, const PermutationSource& source,
                               const DirectionTestOptions& options, const RunControl* control) {
  DirectionTests tests;
  const std::size_t step = directions_at_a_time(source.num_rows(), options.max_bytes);
  for (std::size_t first = 0; first < family.count; first += step) {
    stop_point();
    const std::size_t count = std::min(step, family.count - first);
    std::vector<std::vector<std::uint32_t>> parts(count);
    for (std::size_t i = 0; i < count && family.rows_with_value; ++i) parts[i] = family.rows_with_value(first + i);
    Round round(sort_projections(family.project(first, count), GapWeight::size, options.threads), source, options,
                std::move(parts));
    round.go([&](double share) {
      if (control == nullptr || !control->progress) return;
      control->progress({.done = static_cast<double>(first) + share * static_cast<double>(count),
                         .total = static_cast<double>(family.count),
                         .what = "directions",
                         .counted = true});
    });
    add_results(round, options, tests.directions);
    tests.enumerated = round.run().enumerated();
    tests.n_resamples = round.run().permutation_count() - (tests.enumerated ? 0 : 1);
  }
  return tests;
}

}  // namespace kqd
