#include "kqd/testing/permutation_test.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "testing/labelling_run.hpp"
#include "testing/sequential.hpp"

namespace kqd {
namespace {

constexpr std::int64_t kMaxPermutations = 1'000'000'000;

// The values of a group of batches, each checked: a NaN would compare as "not exceeding" and make p too small.
std::vector<double> evaluate(const Plan& plan, std::span<const LabelBatch> batches, ThreadCount threads) {
  std::size_t num_labellings = 0;
  for (const LabelBatch& batch : batches) num_labellings += batch.count;
  std::vector<double> values(num_labellings);
  plan.evaluate(batches, values, threads);
  for (const double value : values) {
    if (!std::isfinite(value)) {
      fail(ErrorCode::non_finite_value, "the statistic of a labelling is {}, expected a finite number", value);
    }
  }
  return values;
}

// Compares the values of the labellings with the observed one, in labelling order.
class Comparison {
 public:
  Comparison(const Plan& plan, std::unique_ptr<SequentialTest> test) : plan_(plan), test_(std::move(test)) {}

  /// True when no further value is needed.
  bool add(double value) {
    if (values_.empty()) {
      slack_ = plan_.tie_slack(value);
      values_.push_back(value);
      return false;
    }
    // A labelling that merely reorders the observed sums gives the observed value up to rounding; calling it smaller
    // would make p too small.
    const bool exceeds = value >= observed() - slack_;
    if (exceeds && value <= observed() + slack_) ++num_tied_;
    values_.push_back(value);
    return test_->add(exceeds);
  }

  [[nodiscard]] double observed() const { return values_.front(); }
  [[nodiscard]] const SequentialTest& test() const { return *test_; }
  [[nodiscard]] std::uint64_t num_tied() const { return num_tied_; }
  [[nodiscard]] std::vector<double>& values() { return values_; }

 private:
  const Plan& plan_;
  std::unique_ptr<SequentialTest> test_;
  double slack_ = 0.0;
  std::uint64_t num_tied_ = 0;
  std::vector<double> values_;  // the observed one first
};

// With early stopping the groups start with one batch and double, so that at most half of the work is in vain.
std::size_t group_size(const Plan& plan, EarlyStop early_stop, std::uint64_t num_done) {
  if (early_stop == EarlyStop::none) return plan.batches_per_call();
  return std::min<std::size_t>(plan.batches_per_call(), std::max<std::uint64_t>(1, num_done / LabelBatch::kCapacity));
}

void compare_all(const Plan& plan, LabellingRun& run, const TestOptions& options, EarlyStop early_stop,
                 const RunControl* control, Comparison& comparison) {
  const auto report = [&](double fraction) {
    if (control != nullptr && control->progress) control->progress(fraction, "permutations");
  };
  report(0.0);
  while (run.num_done() < run.num_labellings()) {
    stop_point();
    const auto batches = run.next(group_size(plan, early_stop, run.num_done()), options.threads);
    const std::vector<double> values = evaluate(plan, batches, options.threads);
    const bool enough = std::ranges::any_of(values, [&](double value) { return comparison.add(value); });
    report(enough ? 1.0 : static_cast<double>(run.num_done()) / static_cast<double>(run.num_labellings()));
    if (enough) return;
  }
}

struct Moments {
  double mean = 0.0;
  double sd = 0.0;
};

Moments moments(std::span<const double> values, double lost_degrees_of_freedom) {
  const auto n = static_cast<double>(values.size());
  const double mean = sum(values) / n;
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  const double divisor = n - lost_degrees_of_freedom;
  return {mean, divisor > 0.0 ? std::sqrt(squares.value() / divisor) : 0.0};
}

std::vector<std::string> warnings(const LabellingSource& source, const LabellingRun& run, const TestOptions& options,
                                  EarlyStop early_stop) {
  std::vector<std::string> sentences = source.warnings();
  const double smallest = smallest_pvalue(early_stop, options.alpha, run.num_labellings() - 1);
  if (smallest <= options.alpha || options.randomised_ties) return sentences;
  if (run.enumerated()) {
    sentences.push_back(fmt::format(
        "alpha = {} is below {:.3g}, the smallest p-value that {} labellings can give: no data can be rejected",
        options.alpha, smallest, run.num_labellings()));
  } else {
    sentences.push_back(fmt::format(
        "alpha = {} is below {:.3g}, the smallest p-value that {} permutations can give: no data can be rejected; "
        "take more permutations",
        options.alpha, smallest, options.num_permutations));
  }
  return sentences;
}

TestOutcome summarise(const LabellingRun& run, const TestOptions& options, EarlyStop early_stop, Seed seed,
                      Comparison& comparison) {
  const Exceedances draws = comparison.test().draws();
  TestOutcome outcome;
  outcome.statistic = comparison.observed();
  outcome.pvalue = comparison.test().pvalue();
  outcome.enumerated = run.enumerated();
  outcome.stopped_early = draws.num_draws + 1 < run.num_labellings();
  // All labellings are the observed one and the others, so that (1 + L)/(1 + B) is the exact p-value of all C = 1 + B.
  const std::uint64_t observed_too = run.enumerated() ? 1 : 0;
  outcome.n_exceed = draws.num_exceed + observed_too;
  outcome.n_resamples = draws.num_draws + observed_too;

  const Interval interval = run.enumerated()                ? Interval{outcome.pvalue, outcome.pvalue}
                            : early_stop == EarlyStop::none ? clopper_pearson(draws, options.confidence)
                                                            : anytime_interval(draws, options.confidence);
  outcome.pvalue_lower = interval.lower;
  outcome.pvalue_upper = interval.upper;
  if (options.randomised_ties) {
    const double u = RandomStream(seed, Purpose::tie_break).uniform();
    outcome.pvalue = randomised_pvalue(draws, comparison.num_tied(), u);
  }
  outcome.reject = outcome.pvalue <= options.alpha;

  std::vector<double>& values = comparison.values();
  if (!run.enumerated()) values.erase(values.begin());
  const auto [mean, sd] = moments(values, run.enumerated() ? 0.0 : 1.0);
  outcome.permutation_mean = mean;
  outcome.permutation_sd = sd;
  if (options.keep_null_distribution) outcome.null_distribution = std::move(values);
  return outcome;
}

}  // namespace

void validate(const TestOptions& options) {
  if (options.num_permutations < 1 || options.num_permutations > kMaxPermutations) {
    fail(ErrorCode::invalid_option, "TestOptions::num_permutations = {}, needs 1 .. {}", options.num_permutations,
         kMaxPermutations);
  }
  if (!(options.alpha > 0.0 && options.alpha < 1.0)) {
    fail(ErrorCode::invalid_option, "TestOptions::alpha = {}, needs 0 < alpha < 1", options.alpha);
  }
  if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
    fail(ErrorCode::invalid_option, "TestOptions::confidence = {}, needs 0 < confidence < 1", options.confidence);
  }
  const auto num_permutations = static_cast<std::uint64_t>(options.num_permutations);
  if (options.early_stop == EarlyStop::besag_clifford && besag_clifford_limit(options.alpha, num_permutations) == 0) {
    fail(ErrorCode::invalid_option,
         "TestOptions::alpha * (num_permutations + 1) = {} * {} = {}, needs a whole number >= 1 for besag_clifford",
         options.alpha, num_permutations + 1, options.alpha * static_cast<double>(num_permutations + 1));
  }
  if (options.randomised_ties && options.early_stop != EarlyStop::none) {
    fail(ErrorCode::invalid_option, "TestOptions::randomised_ties = true, needs early_stop = none");
  }
}

TestOutcome permutation_test(const Plan& plan, const LabellingSource& source, const TestOptions& options,
                             const RunControl* control) {
  validate(options);
  if (plan.num_rows() != source.num_rows()) {
    fail(ErrorCode::shape_mismatch, "the plan has {} rows and its labellings have {}, needs equal numbers",
         plan.num_rows(), source.num_rows());
  }
  const StopScope scope(control);
  const auto num_permutations = static_cast<std::uint64_t>(options.num_permutations);
  LabellingRun run(source, num_permutations, options.enumeration_limit);
  const EarlyStop early_stop = run.enumerated() ? EarlyStop::none : options.early_stop;
  Comparison comparison(plan, make_sequential_test(early_stop, options.alpha, num_permutations));
  compare_all(plan, run, options, early_stop, control, comparison);
  TestOutcome outcome = summarise(run, options, early_stop, source.seed(), comparison);
  outcome.warnings = warnings(source, run, options, early_stop);
  return outcome;
}

}  // namespace kqd
