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

/// Draws samples of a synthetic problem for a seed; `settings` as in "distribution=student".
[[nodiscard]] std::function<Draw(Seed)> draws_of(ProblemRequest request, const std::vector<std::string>& settings = {});

/// The expectation for the number of rejections.
struct Expectation {
  enum class Kind {
    level,          ///< a true null without ties: inside the binomial band of the level, on both sides
    at_most_level,  ///< a true null with ties, or with early stopping: not above the band
    above_level,    ///< a true null under a test that is known to be wrong: above the band
    replicates,     ///< within three combined standard errors of the rate of another implementation
    at_least,       ///< at least this power
    reported,       ///< no expectation: a rate for comparison
  };
  Kind kind = Kind::level;
  Count other = {};       ///< replicates: counts of the other implementation
  double at_least = 0.0;  ///< at_least: the bound
};

/// How the samples of a run are tested.
using TestOfDraw = std::function<TwoSampleResult(const Draw&, const TwoSampleOptions&)>;

/// One experiment: the same test on new data, many times. Its name is its place in the tables, and determines the seeds
/// of its runs: a renamed scenario has other data.
struct Scenario {
  std::string table;
  std::string row;
  std::string column;
  std::function<Draw(Seed)> draw;  ///< empty if its images are not available
  TwoSampleOptions options;        ///< without the seed and the design of a run
  Expectation expectation;
  std::size_t runs = 0;
  bool seed_zero = false;  ///< every run draws its own data but is tested with seed 0
  bool row_data = false;   ///< the same data in all columns of the row
  TestOfDraw test = {};    ///< empty: two_sample_test() of the rows

  [[nodiscard]] std::string name() const { return table + " | " + row + " | " + column; }
};

/// The level that a test of B permutations reaches exactly: floor(alpha (B + 1)) / (B + 1).
[[nodiscard]] double attained_level(const TestOptions& test);

/// True if this number of rejections is as expected. For a correct test it is false with probability below 1e-6.
[[nodiscard]] bool meets(const Scenario& scenario, Count rejections);

/// Runs the scenario `runs` times, each on one thread, and counts rejections: the same count for any number of threads.
/// Another `seed` draws other data. `after_run` is called after each run, from any thread.
[[nodiscard]] Count count_rejections(const Scenario& scenario, std::size_t runs, ThreadCount threads, Seed seed = {},
                                     const std::function<void()>& after_run = {});

/// Rejections of each configuration of an aggregating test by its own p-value, and of the test itself.
struct ConfigurationCounts {
  std::vector<std::string> names;  ///< of the first run: bandwidths differ slightly between runs
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

/// The power study behind the default test: the candidates on many kinds of difference, and nulls of the default.
[[nodiscard]] std::vector<Scenario> study_scenarios();

/// True nulls of all other registered methods at small sizes: 10,000 runs, fewer for expensive methods.
[[nodiscard]] std::vector<Scenario> method_scenarios();

/// True nulls of the adaptive test, of few and many columns, with and without ties, and on every kind of data and
/// design that level_scenarios has: 10,000 runs each.
[[nodiscard]] std::vector<Scenario> adaptive_level_scenarios();

/// True nulls that are all tested with seed 0, the default of the program: ranks, ties and continuous data, B = 19, 99
/// and 999.
[[nodiscard]] std::vector<Scenario> seed_zero_scenarios();

/// True nulls with weights and cluster sizes that differ between the samples, B = 19.
[[nodiscard]] std::vector<Scenario> weight_scenarios();

/// True nulls of tests of profiles, for every kind of file and assignment to groups, and two wrong assignments.
[[nodiscard]] std::vector<Scenario> group_scenarios();

/// Tables of mixed columns: true nulls, 2000 runs each with B = 99; and the power of the default test, and how often
/// the changed columns are named, 200 runs each.
[[nodiscard]] std::vector<Scenario> table_scenarios();

/// All of these, in the order of the page.
[[nodiscard]] std::vector<Scenario> all_scenarios();

/// The synthetic problems of the power study with more rows and smaller differences, so that the usual groups have
/// several rows and power is between that of no difference and 1. The columns `adaptive` and `e-KQD` permute rows.
[[nodiscard]] std::vector<Scenario> group_power_scenarios();

/// Rejections of two tests of the same data.
struct PairedCounts {
  Count first;
  Count second;
  std::size_t only_first = 0;   ///< runs in which only the first test rejected
  std::size_t only_second = 0;  ///< the same of the second

  [[nodiscard]] double difference() const { return second.rate() - first.rate(); }
  /// Of the difference, which is more precise than the rates because the data are the same.
  [[nodiscard]] double standard_error() const;
};

/// The scenario with rows permuted, then with groups of rows.
[[nodiscard]] PairedCounts count_rows_and_groups(const Scenario& scenario, std::size_t runs, ThreadCount threads,
                                                 Seed seed);

}  // namespace kqd::validation
