#include <array>
#include <cmath>
#include <utility>

#include "core/pool.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 300;
constexpr std::int64_t kPermutations = 300;

struct Problem {
  std::string name;  ///< id of a synthetic problem
  std::size_t n;
  std::size_t dim;
  std::string kernel = "gaussian";
};

struct Statistic {
  std::string name;
  std::string method;
  double power;
};

const std::array<Statistic, 4> kStatistics = {{{"e-KQD p=1", "ekqd", 1.0},
                                               {"e-KQD p=2", "ekqd", 2.0},
                                               {"sup-KQD p=1", "supkqd", 1.0},
                                               {"sup-KQD p=2", "supkqd", 2.0}}};

// Both samples from the distribution of X.
std::function<Draw(Seed)> null_of(const Problem& problem) {
  const auto twice = draws_of({.name = problem.name, .n_x = 2 * problem.n, .n_y = 1, .dim = problem.dim});
  return [twice, n = problem.n](Seed seed) {
    const Draw data = twice(seed);
    const auto half = [&](std::size_t first) {
      return Sample{Matrix<double>(data.x.points.view().row_range(first, n)), {}, {}};
    };
    return Draw{half(0), half(n)};
  };
}

Scenario make_scenario(std::string table, std::string row, const Problem& problem, const Statistic& statistic) {
  Scenario scenario{.table = std::move(table),
                    .row = std::move(row),
                    .column = statistic.name,
                    .draw = draws_of({.name = problem.name, .n_x = problem.n, .n_y = problem.n, .dim = problem.dim}),
                    .options = {.method = statistic.method},
                    .expectation = {},
                    .runs = kRuns};
  scenario.options.statistic.kernel = parse_kernel(problem.kernel);
  scenario.options.statistic.power = statistic.power;
  scenario.options.test.num_permutations = kPermutations;
  return scenario;
}

void add_with_null(std::vector<Scenario>& scenarios, Scenario scenario, const Problem& problem) {
  Scenario null = scenario;
  null.row += ", null";
  null.draw = null_of(problem);
  null.expectation = {.kind = Expectation::Kind::level};
  scenarios.push_back(std::move(scenario));
  scenarios.push_back(std::move(null));
}

// Rates of 300 runs by an independent implementation, in the order of kStatistics: m = floor(log n) reference points,
// one direction more, both fixed over permutations.
struct Replication {
  Problem problem;
  ReferenceMeasure reference;
  std::array<double, 4> rates;
};

std::vector<Replication> replications() {
  const auto decay = [](std::size_t dim) { return Problem{"power-decay", 200, dim}; };
  const auto pooled = ReferenceMeasure::pooled;
  const auto gaussian = ReferenceMeasure::gaussian;
  return {
      {decay(64), pooled, {.997, .997, .987, .987}},
      {decay(128), pooled, {.947, .950, .923, .927}},
      {decay(256), pooled, {.730, .723, .683, .660}},
      {decay(512), pooled, {.350, .343, .340, .320}},
      {decay(64), gaussian, {1.000, 1.000, .990, .993}},
      {decay(128), gaussian, {.953, .957, .943, .940}},
      {decay(256), gaussian, {.720, .737, .700, .690}},
      {decay(512), gaussian, {.393, .430, .387, .390}},
      {{"laplace-gaussian", 500, 1, "polynomial:3:1"}, pooled, {.730, .527, .700, .487}},
  };
}

std::string describe(const Problem& problem) {
  return problem.name + ", n = " + std::to_string(problem.n) + ", d = " + std::to_string(problem.dim);
}

// Power that tests with many directions must reach.
struct Bound {
  Problem problem;
  Statistic statistic;
  double power;
};

std::vector<Bound> bounds() {
  const std::string cubic = "polynomial:3:1";
  return {{{"laplace-gaussian", 500, 1, cubic}, kStatistics[0], 0.80},
          {{"laplace-gaussian", 2000, 1, cubic}, kStatistics[1], 0.95},
          {{"power-decay", 200, 128}, kStatistics[1], 0.95}};
}

// MMD with 25 landmarks, correct and as in the authors' code (erratum 30): rejections in 200 runs of an independent
// implementation.
void add_nystrom(std::vector<Scenario>& scenarios) {
  const Problem problem{"power-decay", 200, 64};
  const std::array<std::pair<std::string, std::size_t>, 2> forms = {{{"standard", 193}, {"as-coded", 42}}};
  for (std::size_t form = 0; form < forms.size(); ++form) {
    Scenario scenario = make_scenario("Power with 25 landmarks", describe(problem), problem,
                                      {"mmd-nystrom, " + forms[form].first, "mmd-nystrom", 1.0});
    scenario.options.statistic.parameters = {{"landmarks", 25.0}, {"form", static_cast<double>(form)}};
    scenario.expectation = {.kind = Expectation::Kind::replicates, .other = {forms[form].second, 200}};
    add_with_null(scenarios, std::move(scenario), problem);
  }
}

}  // namespace

std::vector<Scenario> power_scenarios() {
  std::vector<Scenario> scenarios;
  for (const Replication& replication : replications()) {
    const Problem& problem = replication.problem;
    const auto m = static_cast<std::size_t>(std::log(static_cast<double>(problem.n)));
    const bool pooled = replication.reference == ReferenceMeasure::pooled;
    const std::string row = describe(problem) + (pooled ? ", points set aside" : ", Gaussian points");
    for (std::size_t k = 0; k < kStatistics.size(); ++k) {
      Scenario scenario = make_scenario("Power with log n directions", row, problem, kStatistics[k]);
      scenario.options.statistic.directions.reference = replication.reference;
      scenario.options.statistic.directions.num_reference = m;
      scenario.options.statistic.directions.num_directions = m + 1;
      const auto rejections = static_cast<std::size_t>(std::lround(replication.rates[k] * kRuns));
      scenario.expectation = {.kind = Expectation::Kind::replicates, .other = {rejections, kRuns}};
      add_with_null(scenarios, std::move(scenario), problem);
    }
  }
  for (const ReferenceMeasure reference : {ReferenceMeasure::pooled, ReferenceMeasure::gaussian}) {
    for (const Bound& bound : bounds()) {
      const std::string row = describe(bound.problem) + ", reference " + to_string(reference);
      Scenario scenario = make_scenario("Power with 50 directions", row, bound.problem, bound.statistic);
      scenario.options.statistic.directions.reference = reference;
      scenario.options.statistic.directions.num_reference = 50;
      scenario.options.statistic.directions.num_directions = 50;
      scenario.expectation = {.kind = Expectation::Kind::at_least, .at_least = bound.power};
      add_with_null(scenarios, std::move(scenario), bound.problem);
    }
  }
  add_nystrom(scenarios);
  return scenarios;
}

}  // namespace kqd::validation
