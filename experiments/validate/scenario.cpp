#include "scenario.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/executor.hpp"
#include "experiments/run_seed.hpp"

namespace kqd::validation {
namespace {

constexpr double kFalseAlarm = 1e-6;
constexpr double kMaxStandardErrors = 3.0;

TwoSampleResult run_once(const Scenario& scenario, Seed seed) {
  const Draw data = scenario.draw(seed);
  TwoSampleOptions options = scenario.options;
  options.statistic.seed = scenario.seed_zero ? Seed{0} : seed;
  options.statistic.threads = ThreadCount{1};
  options.test.design = data.design;
  return scenario.test ? scenario.test(data, options) : two_sample_test(data.x, data.y, options);
}

// Determines the seeds of the runs.
std::string name_of_data(const Scenario& scenario) {
  return scenario.row_data ? scenario.table + " | " + scenario.row : scenario.name();
}

}  // namespace

std::function<Draw(Seed)> draws_of(ProblemRequest request, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) set_parameter(request, setting);
  return [request = std::move(request)](Seed seed) {
    ProblemRequest own = request;
    own.seed = seed;
    SyntheticPair pair = make_problem(own, ThreadCount{1});
    return Draw{std::move(pair.x), std::move(pair.y)};
  };
}

double attained_level(const TestOptions& test) {
  const double permutations = static_cast<double>(test.num_permutations) + 1.0;
  // alpha (B + 1) is often a whole number up to rounding.
  return std::floor(test.alpha * permutations * (1.0 + 1e-12)) / permutations;
}

bool meets(const Scenario& scenario, Count rejections) {
  const auto band = [&] { return binomial_band(rejections.runs, attained_level(scenario.options.test), kFalseAlarm); };
  switch (scenario.expectation.kind) {
    case Expectation::Kind::level:
      return band().holds(rejections.successes);
    case Expectation::Kind::at_most_level:
      return rejections.successes <= band().highest;
    case Expectation::Kind::above_level:
      return rejections.successes > band().highest;
    case Expectation::Kind::replicates:
      return std::abs(standardised_difference(rejections, scenario.expectation.other)) <= kMaxStandardErrors;
    case Expectation::Kind::at_least:
      return rejections.rate() >= scenario.expectation.at_least;
    case Expectation::Kind::reported:
      return true;
  }
  return false;
}

Count count_rejections(const Scenario& scenario, std::size_t runs, ThreadCount threads, Seed seed,
                       const std::function<void()>& after_run) {
  std::atomic<std::size_t> rejections{0};
  parallel_for_blocks(runs, 1, threads, [&](std::size_t run, std::size_t) {
    if (run_once(scenario, run_seed(name_of_data(scenario), seed, run)).test.reject) ++rejections;
    if (after_run) after_run();
  });
  return {rejections, runs};
}

ConfigurationCounts count_configurations(const Scenario& scenario, std::size_t runs, ThreadCount threads, Seed seed) {
  std::vector<TwoSampleResult> results(runs);
  parallel_for_blocks(runs, 1, threads, [&](std::size_t run, std::size_t) {
    results[run] = run_once(scenario, run_seed(name_of_data(scenario), seed, run));
  });
  ConfigurationCounts counts;
  counts.aggregate.runs = runs;
  for (const TwoSampleResult& result : results) {
    if (result.test.reject) ++counts.aggregate.successes;
    for (std::size_t r = 0; r < result.configurations.size(); ++r) {
      if (r == counts.single.size()) {
        counts.names.push_back(result.configurations[r].name);
        counts.single.push_back({0, runs});
      }
      if (result.configurations[r].pvalue <= scenario.options.test.alpha) ++counts.single[r].successes;
    }
  }
  return counts;
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> scenarios = level_scenarios();
  std::ranges::move(method_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(adaptive_level_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(seed_zero_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(weight_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(power_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(study_scenarios(), std::back_inserter(scenarios));
  std::ranges::move(table_scenarios(), std::back_inserter(scenarios));
  return scenarios;
}

}  // namespace kqd::validation
