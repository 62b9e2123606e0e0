#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binomial.hpp"
#include "experiments/rates.hpp"
#include "kqd/synthetic/problems.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd::validation {

/// The data of one run.
struct Draw {
  Sample x;
  Sample y;
  Design design = {};
};

/// Draws from a synthetic problem, of fresh data for every seed; `settings` as in "distribution=student".
[[nodiscard]] std::function<Draw(Seed)> draws_of(ProblemRequest request, const std::vector<std::string>& settings = {});

/// What the number of rejections is compared with.
struct Expectation {
  enum class Kind {
    level,          ///< a true null without ties: inside the binomial band of the level, on both sides
    at_most_level,  ///< a true null with ties, or with early stopping: not above the band
    replicates,     ///< within three combined standard errors of a rate that another implementation measured
    at_least,       ///< a power that must be reached
    reported,       ///< nothing: a rate to compare others with
  };
  Kind kind = Kind::level;
  Count other = {};       ///< replicates: what was measured elsewhere
  double at_least = 0.0;  ///< at_least: the bound
};

/// One experiment: the same test of fresh data, many times. Its place in the tables is its name.
struct Scenario {
  std::string table;
  std::string row;
  std::string column;
  std::function<Draw(Seed)> draw;  ///< none where its pictures are not at hand
  TwoSampleOptions options;        ///< without the seed and the design of a run
  Expectation expectation;
  std::size_t runs = 0;
  bool seed_zero = false;  ///< every run draws its own data but is tested with seed 0

  [[nodiscard]] std::string name() const { return table + " | " + row + " | " + column; }
};

/// The level that a test of B permutations reaches exactly: floor(alpha (B + 1)) / (B + 1).
[[nodiscard]] double attained_level(const TestOptions& test);

/// Does this number of rejections agree with what is expected? A true null is told wrong with a probability below 1e-6.
[[nodiscard]] bool meets(const Scenario& scenario, Count rejections);

/// Runs the scenario `runs` times, each on one thread, and counts rejections: the same count for any number of threads.
/// Another `seed` is a repetition with fresh data. `after_run` is called after each run, from any thread.
[[nodiscard]] Count count_rejections(const Scenario& scenario, std::size_t runs, ThreadCount threads, Seed seed = {},
                                     const std::function<void()>& after_run = {});

/// How often each configuration of an aggregating test would have rejected by its own p-value, and the test itself.
struct ConfigurationCounts {
  std::vector<std::string> names;  ///< as in the first run: bandwidths differ a little from run to run
  std::vector<Count> single;
  Count aggregate;
};
[[nodiscard]] ConfigurationCounts count_configurations(const Scenario& scenario, std::size_t runs, ThreadCount threads,
                                                       Seed seed);

/// True nulls of every plan, design and calibration, with B = 199: 10,000 runs each.
[[nodiscard]] std::vector<Scenario> level_scenarios();

/// The power experiments of Naslidnyk et al. with fixed directions, 300 runs each, and next to each cell its null: both
/// samples from the distribution of X.
[[nodiscard]] std::vector<Scenario> power_scenarios();

/// The power study behind the default test: many kinds of difference and the candidates, nulls of the default next to.
[[nodiscard]] std::vector<Scenario> study_scenarios();

/// True nulls of every other method of the registry at small sizes: 10,000 runs, fewer for expensive methods.
[[nodiscard]] std::vector<Scenario> method_scenarios();

/// True nulls of the adaptive test, of few and many columns, with and without ties, and on every kind of data and
/// design that level_scenarios has: 10,000 runs each.
[[nodiscard]] std::vector<Scenario> adaptive_level_scenarios();

/// True nulls that are all tested with seed 0, as the program does: ranks, ties and continuous data, B = 19, 99 and
/// 999.
[[nodiscard]] std::vector<Scenario> seed_zero_scenarios();

/// True nulls with weights and cluster sizes that differ between the samples, B = 19.
[[nodiscard]] std::vector<Scenario> weight_scenarios();

/// All of these, in the order of the page.
[[nodiscard]] std::vector<Scenario> all_scenarios();

}  // namespace kqd::validation
