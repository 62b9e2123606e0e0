#include "kqd/testing/permutation_test.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "kqd/core/matrix.hpp"
#include "testing/comparison.hpp"
#include "testing/permutation_run.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<EarlyStop>, 3> kEarlyStops = {{
    {EarlyStop::none, "none"},
    {EarlyStop::besag_clifford, "besag-clifford"},
    {EarlyStop::betting, "betting"},
}};

constexpr std::int64_t kMaxPermutations = 1'000'000'000;

// Counts values of one half of the draws that are at least as extreme as the observed one.
class HalfCount {
 public:
  void add(const Plan& plan, std::span<const double> values) {
    if (!threshold_) threshold_ = values[0] - plan.tie_slack(values[0]);
    const double threshold = *threshold_;
    exceed_ += static_cast<std::uint64_t>(std::ranges::count_if(values, [&](double v) { return v >= threshold; }));
    count_ += values.size();
  }
  /// (1 + L)/(1 + B): the observed value is counted as well.
  [[nodiscard]] double pvalue() const { return static_cast<double>(exceed_) / static_cast<double>(count_); }

 private:
  std::optional<double> threshold_;
  std::uint64_t exceed_ = 0;
  std::uint64_t count_ = 0;
};

using Halves = std::array<HalfCount, 2>;

// `halves` may be null.
std::vector<double> evaluate(const Plan& plan, std::span<const LabelBatch> batches, Halves* halves,
                             ThreadCount threads) {
  std::size_t permutation_count = 0;
  for (const LabelBatch& batch : batches) permutation_count += batch.count;
  std::vector<double> values(permutation_count);
  if (halves == nullptr) {
    plan.evaluate(batches, values, threads);
    return values;
  }
  Matrix<double> of_halves(halves->size(), permutation_count);
  plan.evaluate_with_halves(batches, values, of_halves, threads);
  for (std::size_t h = 0; h < halves->size(); ++h) (*halves)[h].add(plan, of_halves.row(h));
  return values;
}

// With early stopping the groups start with one batch and double, so that at most half of the
// evaluated permutations are not needed.
std::size_t group_size(const Plan& plan, EarlyStop early_stop, std::uint64_t num_done) {
  if (early_stop == EarlyStop::none) return plan.batches_per_call();
  return std::min<std::size_t>(plan.batches_per_call(), std::max<std::uint64_t>(1, num_done / LabelBatch::kCapacity));
}

void compare_all(const Plan& plan, PermutationRun& run, const TestOptions& options, EarlyStop early_stop,
                 const RunControl* control, Comparison& comparison, Halves* halves) {
  const auto total = static_cast<double>(run.permutation_count());
  const auto report = [&](double done) {
    if (control == nullptr || !control->progress) return;
    control->progress({.done = done, .total = total, .what = "permutations", .counted = true});
  };
  report(0.0);
  while (run.num_done() < run.permutation_count()) {
    stop_point();
    const auto batches = run.next(group_size(plan, early_stop, run.num_done()), options.threads);
    const std::vector<double> values = evaluate(plan, batches, halves, options.threads);
    const bool enough = std::ranges::any_of(values, [&](double value) { return comparison.add(value); });
    report(enough ? total : static_cast<double>(run.num_done()));
    if (enough) return;
  }
}

}  // namespace

EarlyStop parse_early_stop(std::string_view text) {
  return value_of(kEarlyStops, text, "early_stop");
}
std::string to_string(EarlyStop rule) {
  return std::string(name_of(kEarlyStops, rule));
}

void validate(const TestOptions& options) {
  if (options.num_permutations < 1 || options.num_permutations > kMaxPermutations) {
    fail_option("num_permutations", options.num_permutations,
                fmt::format("a whole number in 1 .. {}", kMaxPermutations));
  }
  if (!(options.alpha > 0.0 && options.alpha < 1.0)) {
    fail_option("alpha", options.alpha, "a number > 0 and < 1");
  }
  if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
    fail_option("confidence", options.confidence, "a number > 0 and < 1");
  }
  const auto num_permutations = static_cast<std::uint64_t>(options.num_permutations);
  if (options.early_stop == EarlyStop::besag_clifford && besag_clifford_limit(options.alpha, num_permutations) == 0) {
    fail(ErrorCode::invalid_option,
         "alpha * (permutations + 1) = {} * {} = {}, early stopping by besag-clifford needs a whole number >= 1",
         options.alpha, num_permutations + 1, options.alpha * static_cast<double>(num_permutations + 1));
  }
  if (options.randomised_ties && options.early_stop != EarlyStop::none) {
    fail(ErrorCode::invalid_option, "randomised ties do not go with early stopping");
  }
}

TestOutcome permutation_test(const Plan& plan, const PermutationSource& source, const TestOptions& options,
                             const RunControl* control) {
  validate(options);
  if (plan.num_rows() != source.num_rows()) {
    fail(ErrorCode::shape_mismatch, "the plan has {} rows and its permutations have {}, needs equal numbers",
         plan.num_rows(), source.num_rows());
  }
  const StopScope scope(control);
  const auto num_permutations = static_cast<std::uint64_t>(options.num_permutations);
  PermutationRun run(source, num_permutations, options.enumeration_limit, options.max_label_memory);
  const EarlyStop early_stop = run.enumerated() ? EarlyStop::none : options.early_stop;
  Comparison comparison([&](double value) { return plan.tie_slack(value); },
                        make_sequential_test(early_stop, options.alpha, num_permutations), run.enumerated(),
                        options.keep_null_distribution);
  Halves halves;
  const bool with_halves = plan.has_halves() && early_stop == EarlyStop::none && !options.randomised_ties;
  compare_all(plan, run, options, early_stop, control, comparison, with_halves ? &halves : nullptr);
  const PermutationSet permutations{run.permutation_count(), run.enumerated()};
  TestOutcome outcome = summarise(permutations, options, early_stop, source.seed(), comparison);
  if (with_halves) outcome.half_pvalues = {halves[0].pvalue(), halves[1].pvalue()};
  outcome.warnings = source.warnings();
  warn_about_resolution(permutations, options, early_stop, comparison, outcome.warnings);
  return outcome;
}

}  // namespace kqd
