#include "testing/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.hpp"
#include "core/summation.hpp"

namespace kqd {
namespace {

struct Moments {
  double mean = 0.0;
  double sd = 0.0;
};

// In units of a power of two near the largest value: neither the sum nor the squares leave the range of numbers, and
// nothing is rounded that would not be rounded anyway.
Moments moments(std::span<const double> values, double lost_degrees_of_freedom) {
  const auto n = static_cast<double>(values.size());
  const int unit = binary_magnitude(values);
  CompensatedSum total;
  for (const double v : values) total.add(std::scalbn(v, -unit));
  const double mean = total.value() / n;
  CompensatedSum squares;
  for (const double v : values) {
    const double deviation = std::scalbn(v, -unit) - mean;
    squares.add(deviation * deviation);
  }
  const double divisor = n - lost_degrees_of_freedom;
  const double sd = divisor > 0.0 ? std::sqrt(squares.value() / divisor) : 0.0;
  return {std::scalbn(mean, unit), std::scalbn(sd, unit)};
}

}  // namespace

TestOutcome summarise(const Labellings& labellings, const TestOptions& options, EarlyStop early_stop, Seed seed,
                      Comparison& comparison) {
  const Exceedances draws = comparison.test().draws();
  TestOutcome outcome;
  outcome.statistic = comparison.observed();
  outcome.pvalue = comparison.test().pvalue();
  outcome.enumerated = labellings.enumerated;
  outcome.stopped_early = draws.num_draws + 1 < labellings.count;
  // All labellings are the observed one and the others, so that (1 + L)/(1 + B) is the exact p-value of all C = 1 + B.
  const std::uint64_t observed_too = labellings.enumerated ? 1 : 0;
  outcome.n_exceed = draws.num_exceed + observed_too;
  outcome.n_resamples = draws.num_draws + observed_too;

  const Interval interval = labellings.enumerated           ? Interval{outcome.pvalue, outcome.pvalue}
                            : early_stop == EarlyStop::none ? clopper_pearson(draws, options.confidence)
                                                            : anytime_interval(draws, options.confidence);
  outcome.pvalue_lower = interval.lower;
  outcome.pvalue_upper = interval.upper;
  if (options.randomised_ties) {
    const double u = RandomStream(seed, Purpose::tie_break, options.seed.value).uniform();
    outcome.pvalue = randomised_pvalue(draws, comparison.num_tied(), u);
  }
  outcome.reject = outcome.pvalue <= options.alpha;

  std::vector<double>& values = comparison.values();
  if (!labellings.enumerated) values.erase(values.begin());
  const auto [mean, sd] = moments(values, labellings.enumerated ? 0.0 : 1.0);
  outcome.permutation_mean = mean;
  outcome.permutation_sd = sd;
  if (options.keep_null_distribution) outcome.null_distribution = std::move(values);
  return outcome;
}

void warn_about_resolution(const Labellings& labellings, const TestOptions& options, EarlyStop early_stop,
                           const Comparison& comparison, std::vector<std::string>& warnings) {
  if (options.randomised_ties) return;
  const double smallest = smallest_pvalue(early_stop, options.alpha, labellings.count - 1);
  if (smallest <= options.alpha) {
    // Samples of equal size that change places give the same value: every labelling has a twin.
    const std::uint64_t as_far = 1 + comparison.num_tied();
    const double share = static_cast<double>(as_far) / static_cast<double>(labellings.count);
    const bool none_is_further = comparison.test().draws().num_exceed == comparison.num_tied();
    if (labellings.enumerated && none_is_further && share > options.alpha) {
      warnings.push_back(fmt::format(
          "no labelling is further apart, but {} of all {} are as far: p cannot be below {:.3g}, and alpha = {} is out "
          "of reach",
          as_far, labellings.count, share, options.alpha));
    }
    return;
  }
  if (labellings.enumerated) {
    warnings.push_back(fmt::format(
        "alpha = {} is below {:.3g}, the smallest p-value that {} labellings can give: no data can be rejected",
        options.alpha, smallest, labellings.count));
  } else {
    warnings.push_back(fmt::format(
        "alpha = {} is below {:.3g}, the smallest p-value that {} permutations can give: no data can be rejected; "
        "take more permutations",
        options.alpha, smallest, labellings.count - 1));
  }
}

}  // namespace kqd
