#include "testing/aggregated_test.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/finite.hpp"
#include "core/warning.hpp"
#include "testing/comparison.hpp"
#include "testing/permutation_run.hpp"

namespace kqd {
namespace {

// Sums that bundles keep per permutation stay small next to the labels.
constexpr std::size_t kBatchesAtATime = 32;

// Values, scores and terms of the aggregate are held for all permutations at once.
void require_room(const AggregatedPlan& plan, std::uint64_t permutation_count) {
  const double bytes =
      3.0 * sizeof(double) * static_cast<double>(plan.weights.size()) * static_cast<double>(permutation_count);
  if (bytes <= static_cast<double>(plan.max_bytes)) return;
  fail(ErrorCode::resource_limit,
       "{} statistics of {} permutations take {:.0f} MB, more than the {} MB allowed; ask for fewer permutations",
       plan.weights.size(), permutation_count, std::ceil(bytes / 1e6), plan.max_bytes >> 20U);
}

// One row per statistic, one column per permutation, ties merged.
Matrix<double> evaluate_all(const AggregatedPlan& plan, PermutationRun& run, ThreadCount threads,
                            const RunControl* control) {
  const auto total = static_cast<double>(run.permutation_count());
  const auto report = [&](double done) {
    if (control == nullptr || !control->progress) return;
    control->progress({.done = done, .total = total, .what = "permutations", .counted = true});
  };
  report(0.0);
  Matrix<double> values(plan.weights.size(), run.permutation_count());
  std::size_t first_column = 0;
  while (run.num_done() < run.permutation_count()) {
    const auto batches = run.next(kBatchesAtATime, threads);
    const std::size_t columns = run.num_done() - first_column;
    std::size_t first_row = 0;
    for (std::size_t i = 0; i < plan.bundles.size(); ++i) {
      stop_point();
      const StatisticBundle& bundle = *plan.bundles[i];
      const std::size_t rows = bundle.names().size();
      bundle.evaluate(batches, values.view().row_range(first_row, rows).column_range(first_column, columns), threads);
      first_row += rows;
      const double part = static_cast<double>(i + 1) / static_cast<double>(plan.bundles.size());
      report(static_cast<double>(first_column) + part * static_cast<double>(columns));
    }
    first_column += columns;
  }
  return values;
}

void merge_ties_of_bundles(const AggregatedPlan& plan, Matrix<double>& values) {
  std::size_t row = 0;
  for (const auto& bundle : plan.bundles) {
    const std::size_t count = bundle->names().size();
    for (std::size_t r = 0; r < count; ++r, ++row) {
      double largest = 0.0;
      for (const double value : values.row(row)) {
        require_finite_statistic(value);
        largest = std::max(largest, std::abs(value));
      }
      merge_ties(values.row(row), bundle->tie_slack(r, largest));
    }
  }
}

// Ranks of a statistic among b permutations are p-values of at least 1/(b + 1), and the smallest of several is compared
// at a level of about alpha over their number: with fewer permutations most smallest p-values tie, and a tie counts
// against a rejection (0.6% of true nulls rejected at level 0.05 with 19 permutations of 20 kernels).
std::uint64_t fewest_permutations(const AggregatedPlan& plan, const TestOptions& options) {
  if (plan.rule != Aggregation::two_layer) return 0;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(plan.weights.size()) / options.alpha)) - 1;
}

}  // namespace

std::vector<double> aggregates_of(const AggregatedPlan& plan, std::span<const LabelBatch> batches,
                                  std::size_t permutation_count, ThreadCount threads) {
  require_room(plan, permutation_count);
  Matrix<double> values(plan.weights.size(), permutation_count);
  std::size_t first_row = 0;
  for (const auto& bundle : plan.bundles) {
    const std::size_t rows = bundle->names().size();
    bundle->evaluate(batches, values.view().row_range(first_row, rows), threads);
    first_row += rows;
  }
  merge_ties_of_bundles(plan, values);
  return aggregate(plan.rule, values, plan.weights);
}

std::uint64_t permutations_of_aggregate(const AggregatedPlan& plan, const TestOptions& options) {
  const auto asked = static_cast<std::uint64_t>(options.num_permutations);
  // Two layers need as many permutations again, for the ranks.
  return plan.rule == Aggregation::two_layer ? 2 * std::max(asked, fewest_permutations(plan, options)) : asked;
}

AggregatedOutcome aggregated_outcome(const AggregatedPlan& plan, Matrix<double> values, bool enumerated,
                                     const TestOptions& options, Seed seed) {
  merge_ties_of_bundles(plan, values);
  // A complete enumeration cannot be split into random halves.
  const bool no_halves = plan.rule == Aggregation::two_layer && enumerated;
  const std::vector<double> aggregates = aggregate(no_halves ? Aggregation::min_p : plan.rule, values, plan.weights);
  const PermutationSet permutations{aggregates.size(), enumerated};
  Comparison comparison([](double) { return 0.0; },
                        make_sequential_test(EarlyStop::none, options.alpha, permutations.count - 1),
                        permutations.enumerated, options.keep_null_distribution);
  for (const double value : aggregates) comparison.add(value);
  AggregatedOutcome outcome;
  outcome.test = summarise(permutations, options, EarlyStop::none, seed, comparison);
  const auto asked = static_cast<std::uint64_t>(options.num_permutations);
  if (const std::uint64_t enough = fewest_permutations(plan, options); asked < enough && !enumerated) {
    warn(outcome.test.warnings, WarningId::more_permutations, enough, asked, plan.weights.size());
  }
  warn_about_resolution(permutations, options, EarlyStop::none, comparison, outcome.test.warnings);
  outcome.statistics = adjusted_statistics(values);
  return outcome;
}

AggregatedOutcome aggregated_test(const AggregatedPlan& plan, const PermutationSource& source,
                                  const TestOptions& options, const RunControl* control) {
  validate(options);
  const StopScope scope(control);
  PermutationRun run(source, permutations_of_aggregate(plan, options), options.enumeration_limit,
                     options.max_label_memory);
  if (options.early_stop != EarlyStop::none && !run.enumerated()) {
    fail(ErrorCode::invalid_option, "early stopping does not go with a test that aggregates several statistics");
  }
  require_room(plan, run.permutation_count());
  Matrix<double> values = evaluate_all(plan, run, options.threads, control);
  AggregatedOutcome outcome = aggregated_outcome(plan, std::move(values), run.enumerated(), options, source.seed());
  const Warnings& of_source = source.warnings();
  outcome.test.warnings.insert(outcome.test.warnings.begin(), of_source.begin(), of_source.end());
  return outcome;
}

}  // namespace kqd
