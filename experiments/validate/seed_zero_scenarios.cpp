#include <numeric>

#include "core/random.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::size_t kRuns = 10'000;

// The pool is the same set in every run: 1 .. nx + ny, assigned to the samples at random.
std::function<Draw(Seed)> ranks(std::size_t nx, std::size_t ny) {
  return [=](Seed seed) {
    RandomStream stream(seed, Purpose::test_data);
    const std::vector<std::size_t> rank = sample_without_replacement(nx + ny, nx + ny, stream);
    Draw data{{Matrix<double>(nx, 1), {}, {}}, {Matrix<double>(ny, 1), {}, {}}};
    for (std::size_t i = 0; i < nx; ++i) data.x.points(i, 0) = static_cast<double>(rank[i] + 1);
    for (std::size_t i = 0; i < ny; ++i) data.y.points(i, 0) = static_cast<double>(rank[nx + i] + 1);
    return data;
  };
}

// Nine cells in ten are 0, the others normal.
Draw mostly_zero(Seed seed) {
  RandomStream stream(seed, Purpose::test_data);
  Draw data{{Matrix<double>(10, 3, 0.0), {}, {}}, {Matrix<double>(14, 3, 0.0), {}, {}}};
  for (Sample* sample : {&data.x, &data.y}) {
    for (double& cell : sample->points.values()) {
      if (stream.below(10) == 0) cell = stream.normal();
    }
  }
  return data;
}

}  // namespace

std::vector<Scenario> seed_zero_scenarios() {
  struct Kind {
    std::string name;
    std::string method;
    std::function<Draw(Seed)> draw;
    bool tied = false;
  };
  const std::vector<Kind> kinds = {
      {"ranks 1 to 52, 20 + 32, `energy`", "energy", ranks(20, 32)},
      {"ranks 1 to 38, 18 + 20, `ekqd`", "ekqd", ranks(18, 20)},
      {"ranks 1 to 30, 12 + 18, `adaptive`", "adaptive", ranks(12, 18)},
      {"nine points, d = 2, 15 + 25, `energy`", "energy",
       draws_of({.name = "null", .n_x = 15, .n_y = 25, .dim = 2}, {"distribution=discrete", "levels=3"}), true},
      {"nine cells in ten 0, d = 3, 10 + 14, `adaptive`", "adaptive", mostly_zero, true},
      {"normal, d = 3, 10 + 14, `adaptive`", "adaptive", draws_of({.name = "null", .n_x = 10, .n_y = 14, .dim = 3})},
  };
  std::vector<Scenario> scenarios;
  for (const Kind& kind : kinds) {
    for (const std::int64_t permutations : {19, 99, 999}) {
      Scenario scenario{
          .table = "Conditional on seed 0",
          .row = kind.name,
          .column = "B = " + std::to_string(permutations),
          .draw = kind.draw,
          .options = {.method = kind.method},
          .expectation = {.kind = kind.tied ? Expectation::Kind::at_most_level : Expectation::Kind::level},
          .runs = kRuns,
          .seed_zero = true};
      scenario.options.test.num_permutations = permutations;
      scenarios.push_back(std::move(scenario));
    }
  }
  return scenarios;
}

}  // namespace kqd::validation
