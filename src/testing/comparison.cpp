#include "testing/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"

namespace kqd {

void RunningMoments::merge_block() {
  if (block_.empty()) return;
  // The largest value so far sets the unit.
  const int unit = count_ > 0.0 ? std::max(unit_, binary_magnitude(block_)) : binary_magnitude(block_);
  mean_ = std::scalbn(mean_, unit_ - unit);
  squares_ = std::scalbn(squares_, 2 * (unit_ - unit));
  unit_ = unit;
  const auto n = static_cast<double>(block_.size());
  CompensatedSum total;
  for (const double v : block_) total.add(std::scalbn(v, -unit));
  const double mean = total.value() / n;
  CompensatedSum squares;
  for (const double v : block_) {
    const double deviation = std::scalbn(v, -unit) - mean;
    squares.add(deviation * deviation);
  }
  block_.clear();
  // Moments of two parts together [Chan, Golub, LeVeque 1983].
  const double gap = mean - mean_;
  const double all = count_ + n;
  squares_ += squares.value() + gap * gap * count_ * (n / all);
  mean_ = count_ > 0.0 ? mean_ + gap * (n / all) : mean;
  count_ = all;
}

double RunningMoments::mean() {
  merge_block();
  return std::scalbn(mean_, unit_);
}

double RunningMoments::sd(double lost_degrees_of_freedom) {
  merge_block();
  const double divisor = count_ - lost_degrees_of_freedom;
  return divisor > 0.0 ? std::scalbn(std::sqrt(squares_ / divisor), unit_) : 0.0;
}

TestOutcome summarise(const PermutationSet& permutations, const TestOptions& options, EarlyStop early_stop, Seed seed,
                      Comparison& comparison) {
  const Exceedances draws = comparison.test().draws();
  TestOutcome outcome;
  outcome.statistic = comparison.observed();
  outcome.pvalue = comparison.test().pvalue();
  outcome.enumerated = permutations.enumerated;
  outcome.stopped_early = draws.num_draws + 1 < permutations.count;
  // All permutations are the observed one and the others, so that (1 + L)/(1 + B) is the exact p-value of all C = 1 +
  // B.
  const std::uint64_t observed_too = permutations.enumerated ? 1 : 0;
  outcome.n_exceed = draws.num_exceed + observed_too;
  outcome.n_resamples = draws.num_draws + observed_too;

  const Interval interval = permutations.enumerated         ? Interval{outcome.pvalue, outcome.pvalue}
                            : early_stop == EarlyStop::none ? clopper_pearson(draws, options.confidence)
                                                            : anytime_interval(draws, options.confidence);
  outcome.pvalue_lower = interval.lower;
  outcome.pvalue_upper = interval.upper;
  if (options.randomised_ties) {
    const double u = RandomStream(seed, Purpose::tie_break, options.seed.value).uniform();
    outcome.pvalue = randomised_pvalue(draws, comparison.num_tied(), u);
  }
  outcome.reject = outcome.pvalue <= options.alpha;

  outcome.permutation_mean = comparison.moments().mean();
  outcome.permutation_sd = comparison.moments().sd(permutations.enumerated ? 0.0 : 1.0);
  outcome.null_distribution = std::move(comparison.values());
  return outcome;
}

void warn_about_resolution(const PermutationSet& permutations, const TestOptions& options, EarlyStop early_stop,
                           const Comparison& comparison, Warnings& warnings) {
  if (options.randomised_ties) return;
  const double smallest = smallest_pvalue(early_stop, options.alpha, permutations.count - 1);
  if (smallest <= options.alpha) {
    // Swapping samples of equal size does not change the value, so permutations come in pairs of equal value.
    const std::uint64_t as_far = 1 + comparison.num_tied();
    const double share = static_cast<double>(as_far) / static_cast<double>(permutations.count);
    const bool none_is_further = comparison.test().draws().num_exceed == comparison.num_tied();
    if (permutations.enumerated && none_is_further && share > options.alpha) {
      warn(warnings, WarningId::tied_permutations, as_far, permutations.count, share, options.alpha);
    }
    return;
  }
  if (permutations.enumerated) {
    warn(warnings, WarningId::few_distinct_permutations, options.alpha, smallest, permutations.count);
  } else {
    warn(warnings, WarningId::few_permutations, options.alpha, smallest, permutations.count - 1);
  }
}

}  // namespace kqd
