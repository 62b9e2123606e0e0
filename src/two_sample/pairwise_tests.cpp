#include "kqd/two_sample/pairwise_tests.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/function_ref.hpp"
#include "core/pairs.hpp"
#include "core/warning.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/two_sample/profile_distance.hpp"
#include "kqd/two_sample/profile_test.hpp"

namespace kqd {
namespace {

// The smallest p-value that a test could have given.
double resolution(const TestOutcome& test) {
  if (test.n_resamples == 0) return 0.0;  // from a limiting distribution
  const auto count = static_cast<double>(test.n_resamples);
  return test.enumerated ? 1.0 / count : 1.0 / (count + 1.0);
}

// Permutations after which the smallest p-value of one pair can be alpha after adjustment for all of them.
double needed_permutations(std::size_t num_pairs, double alpha) {
  constexpr double kRounding = 1e-12;
  return std::ceil(static_cast<double>(num_pairs) / alpha * (1.0 - kRounding)) - 1.0;
}

constexpr std::int64_t kUsualOfOnePair = 999;
constexpr double kMostOfOnePair = 19'999;  // a thousand pairs; beyond, tests of all pairs take too long

void warn_about_adjusted_resolution(double smallest, const PairwiseTests& tests, Warnings& warnings) {
  if (smallest * static_cast<double>(tests.num_pairs) <= tests.alpha) return;
  const auto needed = static_cast<std::int64_t>(needed_permutations(tests.num_pairs, tests.alpha));
  warn(warnings, WarningId::few_permutations_for_pairs, smallest, tests.num_pairs, tests.alpha, needed);
}

Matrix<double> symmetric(std::span<const IndexPair> pairs, std::span<const double> values, std::size_t count) {
  Matrix<double> matrix(count, count, 1.0);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    matrix(pairs[k].i, pairs[k].j) = matrix(pairs[k].j, pairs[k].i) = values[k];
  }
  return matrix;
}

// Tests pair by pair. `test_pair` has the settings that `shared` says.
PairwiseTests tests_of_pairs(
    std::size_t num_samples, TwoSampleOptions shared,
    FunctionRef<TwoSampleResult(IndexPair, const TwoSampleOptions&, const RunControl*)> test_pair,
    const RunControl* control) {
  const std::vector<IndexPair> pairs = all_pairs(num_samples);
  const bool chooses = shared.test.num_permutations == 0;
  if (chooses) {
    const double needed = std::min(needed_permutations(pairs.size(), shared.test.alpha), kMostOfOnePair);
    shared.test.num_permutations = std::max(kUsualOfOnePair, static_cast<std::int64_t>(needed));
  }
  const auto total = static_cast<double>(pairs.size());
  std::vector<double> pvalues;
  PairWarnings of_pairs;
  double smallest = 1.0;
  std::size_t num_enumerated = 0;
  RunControl part;
  if (control != nullptr) part.stop = control->stop;
  if (control != nullptr && control->progress) {
    part.progress = [&](const ProgressReport& at) {
      const double done = static_cast<double>(pvalues.size()) + (at.counted ? at.fraction() : 0.0);
      control->progress({.done = done, .total = total, .what = "tests", .counted = true});
    };
  }
  for (const IndexPair pair : pairs) {
    const TwoSampleResult result = test_pair(pair, shared, &part);
    pvalues.push_back(result.test.pvalue);
    if (result.test.enumerated) ++num_enumerated;
    smallest = std::min(smallest, resolution(result.test));
    of_pairs.add(result.warnings);
  }

  const std::vector<double> adjusted = holm_adjusted(pvalues);
  PairwiseTests tests{.method = shared.method,
                      .pvalues = symmetric(pairs, pvalues, num_samples),
                      .adjusted = symmetric(pairs, adjusted, num_samples),
                      .num_pairs = pairs.size(),
                      .num_rejected = 0,
                      .alpha = shared.test.alpha,
                      .num_permutations = shared.test.num_permutations,
                      .raised = chooses && shared.test.num_permutations > kUsualOfOnePair,
                      .num_enumerated = num_enumerated,
                      .warnings = {}};
  tests.num_rejected =
      static_cast<std::size_t>(std::ranges::count_if(adjusted, [&](double p) { return p <= tests.alpha; }));
  of_pairs.append_to(tests.warnings, pairs.size());
  warn_about_adjusted_resolution(smallest, tests, tests.warnings);
  return tests;
}

}  // namespace

DistanceMatrixOptions distances_for(const TwoSampleOptions& options) {
  DistanceMatrixOptions distances{options.method, options.statistic};
  // A test without a distance of its own has parameters of its own, too.
  if (const auto other = find_method(options.method).effect_method; !other.empty()) {
    distances.method = other;
    distances.statistic.parameters.clear();
  }
  return distances;
}

PairwiseTests pairwise_tests(std::span<const SampleView> samples, const DistanceMatrix& matrix,
                             const TwoSampleOptions& options, const RunControl* control) {
  if (samples.size() != matrix.names.size()) {
    fail(ErrorCode::shape_mismatch, "{} samples for a matrix of {}, expected those it was made of", samples.size(),
         matrix.names.size());
  }
  TwoSampleOptions shared = options;
  if (options.method.empty() || find_method(options.method).has_distance) {
    shared.method = matrix.method;
    // Reference points of objects are rows of the samples, which each test has to hold out: it draws its own.
    if (!is_of_objects(options.statistic.kernel)) shared.statistic = matrix.shared;
  } else {
    shared.statistic.kernel = matrix.shared.kernel;
  }
  shared.test.design = Design::independent();
  return tests_of_pairs(
      samples.size(), shared,
      [&](IndexPair pair, const TwoSampleOptions& settings, const RunControl* part) {
        return two_sample_test(samples[pair.i], samples[pair.j], settings, part);
      },
      control);
}

PairwiseTests pairwise_tests(std::span<const Profile> profiles, const TwoSampleOptions& options,
                             const RunControl* control) {
  return tests_of_pairs(
      profiles.size(), options,
      [&](IndexPair pair, const TwoSampleOptions& settings, const RunControl* part) {
        return two_sample_test(profiles[pair.i], profiles[pair.j], settings, part);
      },
      control);
}

}  // namespace kqd
