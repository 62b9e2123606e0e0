#include <cstdint>
#include <functional>
#include <numeric>

#include "core/random.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 10'000;
constexpr std::int64_t kPermutations = 199;  // so that 0.05 is reached exactly: 10 of 200

struct PlanKind {
  std::string name;
  std::string method;
  double power = 1.0;

  [[nodiscard]] bool has_directions() const { return method.find("kqd") != std::string::npos; }
};

std::vector<PlanKind> plan_kinds() {
  return {{"e-KQD p=1", "ekqd", 1.0},
          {"e-KQD p=2", "ekqd", 2.0},
          {"sup-KQD p=1", "supkqd", 1.0},
          {"sup-KQD p=2", "supkqd", 2.0},
          {"e-KQD centered", "ekqd-centered", 2.0},
          {"sup-KQD centered", "supkqd-centered", 2.0},
          {"MMD U", "mmd"},
          {"MMD V", "mmd-v"}};
}

struct DataKind {
  std::string name;
  std::function<Draw(Seed)> draw;
  std::string kernel = "gaussian";
  bool tied = false;
};

struct Sizes {
  std::size_t x;
  std::size_t y;
};

std::function<Draw(Seed)> same_distribution(Sizes sizes, std::size_t dim,
                                            const std::vector<std::string>& settings = {}) {
  return draws_of({.name = "null", .n_x = sizes.x, .n_y = sizes.y, .dim = dim}, settings);
}

RandomStream stream_of(Seed seed) {
  return {seed, Purpose::test_data};
}

Sample empty_sample(std::size_t rows, std::size_t dim) {
  return {Matrix<double>(rows, dim), {}, {}};
}

// Nine rows in ten are the same point.
Draw almost_constant(Seed seed) {
  RandomStream stream = stream_of(seed);
  Draw data{empty_sample(20, 2), empty_sample(20, 2)};
  for (Sample* sample : {&data.x, &data.y}) {
    for (std::size_t i = 0; i < 20; ++i) {
      const bool moves = stream.below(10) == 0;
      for (double& v : sample->points.row(i)) v = moves ? stream.normal() : 1.0;
    }
  }
  return data;
}

Draw with_weights(Draw data, Seed seed) {
  RandomStream stream = stream_of(seed);
  for (Sample* sample : {&data.x, &data.y}) {
    sample->weights.resize(sample->points.rows());
    for (double& weight : sample->weights) weight = stream.exponential();
  }
  return data;
}

// The two rows of a pair share most of their value: permuting them independently would be conservative.
Draw pairs(Seed seed) {
  RandomStream stream = stream_of(seed);
  Draw data{empty_sample(20, 2), empty_sample(20, 2), Design::paired()};
  for (std::size_t i = 0; i < 20; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const double common = 2.0 * stream.normal();
      data.x.points(i, k) = common + stream.normal();
      data.y.points(i, k) = common + stream.normal();
    }
  }
  return data;
}

// Blocks are far apart and X has more of the late ones: permuting across blocks would reject nearly always.
Draw blocks(Seed seed) {
  constexpr std::size_t kBlocks = 4;
  RandomStream stream = stream_of(seed);
  std::vector<std::int64_t> ids;
  const auto rows_of_x = [](std::size_t block) { return 3 + 2 * block; };
  const auto rows_of_y = [](std::size_t block) { return 9 - 2 * block; };
  Draw data{empty_sample(24, 2), empty_sample(24, 2)};
  const auto fill = [&](Sample& sample, const auto& rows_of) {
    std::size_t row = 0;
    for (std::size_t block = 0; block < kBlocks; ++block) {
      for (std::size_t i = 0; i < rows_of(block); ++i, ++row) {
        for (double& v : sample.points.row(row)) v = 2.0 * static_cast<double>(block) + stream.normal();
        ids.push_back(static_cast<std::int64_t>(block));
      }
    }
  };
  fill(data.x, rows_of_x);
  fill(data.y, rows_of_y);
  data.design = Design::blocks(std::move(ids));
  return data;
}

// Twelve clusters in each sample, of one to three rows that hardly differ: permuting rows would reject too often.
Draw clusters(Seed seed) {
  constexpr std::size_t kClusters = 12;
  RandomStream stream = stream_of(seed);
  std::vector<std::int64_t> ids;
  const auto draw_sample = [&] {
    std::vector<std::size_t> sizes(kClusters);
    for (std::size_t& size : sizes) size = 1 + static_cast<std::size_t>(stream.below(3));
    Sample sample = empty_sample(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), 2);
    std::size_t row = 0;
    for (const std::size_t size : sizes) {
      const double center = stream.normal();
      const std::int64_t id = ids.empty() ? 0 : ids.back() + 1;
      for (std::size_t i = 0; i < size; ++i, ++row) {
        for (double& v : sample.points.row(row)) v = center + 0.2 * stream.normal();
        ids.push_back(id);
      }
    }
    return sample;
  };
  Draw data;
  data.x = draw_sample();
  data.y = draw_sample();
  data.design = Design::clusters(std::move(ids));
  return data;
}

std::vector<DataKind> independent_data() {
  return {
      {"normal, d = 3, 20 + 20", same_distribution({20, 20}, 3)},
      {"Student t, 1.5 degrees of freedom, d = 2, 20 + 20",
       same_distribution({20, 20}, 2, {"distribution=student", "df=1.5"})},
      {"normal, d = 3, 12 + 35", same_distribution({12, 35}, 3)},
      {"normal, d = 1, linear kernel", same_distribution({20, 20}, 1), "linear"},
      {"normal, d = 1, kernel (xy + 1)^3", same_distribution({20, 25}, 1), "polynomial:3:1"},
      {"normal, d = 200, 12 + 12", same_distribution({12, 12}, 200)},
      {"normal, d = 1000, 12 + 12", same_distribution({12, 12}, 1000)},
      {"heavy ties: three values, d = 1, 20 + 20",
       same_distribution({20, 20}, 1, {"distribution=discrete", "levels=3"}), "gaussian", true},
      {"heavy ties: nine points, d = 2, 15 + 25", same_distribution({15, 25}, 2, {"distribution=discrete", "levels=3"}),
       "gaussian", true},
      {"nine rows in ten equal, d = 2, 20 + 20", almost_constant, "gaussian", true},
      {"weighted rows, normal, d = 2, 18 + 22",
       [distribution = same_distribution({18, 22}, 2)](Seed seed) { return with_weights(distribution(seed), seed); }},
  };
}

std::vector<DataKind> restricted_data() {
  return {
      {"pairs, correlated", pairs},
      {"blocks, apart and unbalanced", blocks},
      {"clusters of 1 to 3 rows", clusters},
  };
}

Scenario make_scenario(std::string table, const DataKind& data, const PlanKind& plan) {
  Scenario scenario{.table = std::move(table),
                    .row = data.name,
                    .column = plan.name,
                    .draw = data.draw,
                    .options = {.method = plan.method},
                    .expectation = {.kind = data.tied ? Expectation::Kind::at_most_level : Expectation::Kind::level},
                    .runs = kRuns};
  scenario.options.statistic.kernel = parse_kernel(data.kernel);
  // Weights are not checked, because the check refuses about one pair of samples in 300.
  if (data.name.starts_with("weighted rows")) scenario.options.weights_as = WeightsAs::frequency;
  scenario.options.test.num_permutations = kPermutations;
  if (!plan.has_directions()) return scenario;
  scenario.options.statistic.power = plan.power;
  scenario.options.statistic.directions.num_directions = 6;
  scenario.options.statistic.directions.num_reference = 5;
  return scenario;
}

}  // namespace

std::vector<Scenario> level_scenarios() {
  std::vector<Scenario> scenarios;
  for (const DataKind& data : independent_data()) {
    for (const PlanKind& plan : plan_kinds()) scenarios.push_back(make_scenario("Independent samples", data, plan));
  }
  for (const DataKind& data : restricted_data()) {
    for (const PlanKind& plan : plan_kinds()) scenarios.push_back(make_scenario("Restricted designs", data, plan));
  }

  // Reference points from the pool, held out together with the other rows of their pair, block or cluster.
  std::vector<DataKind> pooled = restricted_data();
  pooled.insert(pooled.begin(),
                {{"normal, d = 3, 20 + 20", same_distribution({20, 20}, 3)},
                 {"normal, d = 3, 12 + 35", same_distribution({12, 35}, 3)},
                 {"normal, d = 200, 15 + 15", same_distribution({15, 15}, 200)},
                 {"heavy ties: three values, d = 1, 20 + 20",
                  same_distribution({20, 20}, 1, {"distribution=discrete", "levels=3"}), "gaussian", true}});
  for (const DataKind& data : pooled) {
    for (const PlanKind& plan : plan_kinds()) {
      if (!plan.has_directions()) continue;
      Scenario scenario = make_scenario("Pooled reference points, set aside", data, plan);
      scenario.options.statistic.directions.reference = ReferenceMeasure::pooled;
      scenarios.push_back(std::move(scenario));
    }
  }

  const DataKind normal{"normal, d = 3, 20 + 20", same_distribution({20, 20}, 3)};
  const DataKind tied{"heavy ties: three values, d = 1, 20 + 20",
                      same_distribution({20, 20}, 1, {"distribution=discrete", "levels=3"}), "gaussian", true};
  for (const PlanKind& plan : plan_kinds()) {
    if (plan.method.ends_with("-centered")) continue;
    Scenario flips = make_scenario("Other calibrations", normal, plan);
    flips.row = "sign flips, " + normal.name;
    flips.options.calibration = Calibration::sign_flip;
    scenarios.push_back(std::move(flips));
  }
  for (const PlanKind& plan : plan_kinds()) {
    Scenario randomised = make_scenario("Other calibrations", tied, plan);
    randomised.row = "randomised ties, " + tied.name;
    randomised.options.test.randomised_ties = true;
    randomised.expectation.kind = Expectation::Kind::level;
    scenarios.push_back(std::move(randomised));
  }
  for (const EarlyStop rule : {EarlyStop::besag_clifford, EarlyStop::betting}) {
    for (const PlanKind& plan : plan_kinds()) {
      Scenario stopped = make_scenario("Other calibrations", normal, plan);
      stopped.row = "early stop " + to_string(rule) + ", " + normal.name;
      stopped.options.test.early_stop = rule;
      stopped.expectation.kind = Expectation::Kind::at_most_level;
      scenarios.push_back(std::move(stopped));
    }
  }
  return scenarios;
}

std::vector<Scenario> adaptive_level_scenarios() {
  std::vector<Scenario> scenarios;
  const auto add = [&](const DataKind& data, std::int64_t permutations) {
    Scenario scenario =
        make_scenario("Level of the adaptive test", data, {"B = " + std::to_string(permutations), "adaptive"});
    scenario.options.test.num_permutations = permutations;
    scenarios.push_back(std::move(scenario));
  };
  for (const std::size_t dim : {std::size_t{1}, std::size_t{2}, std::size_t{20}, std::size_t{500}}) {
    const std::string columns = ", d = " + std::to_string(dim);
    for (const DataKind& data :
         {DataKind{"normal" + columns, same_distribution({24, 16}, dim)},
          DataKind{"discrete" + columns, same_distribution({24, 16}, dim, {"distribution=discrete", "levels=3"}),
                   "gaussian", true}}) {
      for (const std::int64_t permutations : {99, 199}) add(data, permutations);
    }
  }
  for (const DataKind& data : independent_data()) add(data, kPermutations);
  for (const DataKind& data : restricted_data()) add(data, kPermutations);
  return scenarios;
}

}  // namespace kqd::validation
