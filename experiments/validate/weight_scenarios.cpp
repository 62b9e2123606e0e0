#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.hpp"
#include "scenario.hpp"

namespace kqd::validation {
namespace {

constexpr std::int64_t kPermutations = 19;  // so that 0.05 is reached exactly: 1 of 20

Sample normal_rows(std::size_t rows, RandomStream& stream) {
  Sample sample{Matrix<double>(rows, 2), {}, {}};
  for (double& value : sample.points.values()) value = stream.normal();
  return sample;
}

// Weights that do not depend on the values: lognormal weights against ones.
std::function<Draw(Seed)> lognormal_against_ones(std::size_t nx, std::size_t ny) {
  return [=](Seed seed) {
    RandomStream stream(seed, Purpose::test_data);
    Draw data{normal_rows(nx, stream), normal_rows(ny, stream)};
    for (std::size_t i = 0; i < nx; ++i) data.x.weights.push_back(std::exp(stream.normal()));
    data.y.weights.assign(ny, 1.0);
    return data;
  };
}

// Rows drawn with a density proportional to exp(-slope x_1) times the normal one, with weights that correct for it.
Sample drawn_unevenly(std::size_t rows, double slope, RandomStream& stream) {
  Sample sample = normal_rows(rows, stream);
  for (std::size_t i = 0; i < rows; ++i) {
    sample.points(i, 0) -= slope;
    if (slope != 0.0) sample.weights.push_back(std::exp(slope * sample.points(i, 0)));
  }
  return sample;
}

std::function<Draw(Seed)> survey(std::size_t nx, std::size_t ny, double slope_x, double slope_y) {
  return [=](Seed seed) {
    RandomStream stream(seed, Purpose::test_data);
    Draw data;
    data.x = drawn_unevenly(nx, slope_x, stream);
    data.y = drawn_unevenly(ny, slope_y, stream);
    return data;
  };
}

// Clusters whose rows hardly differ, with sizes that run through smallest .. largest.
struct Clusters {
  std::size_t count;
  std::size_t smallest;
  std::size_t largest;
};

std::function<Draw(Seed)> clusters(Clusters of_x, Clusters of_y) {
  return [=](Seed seed) {
    RandomStream stream(seed, Purpose::test_data);
    std::vector<std::int64_t> ids;
    const auto sample_of = [&](const Clusters& clusters, std::int64_t first_id) {
      std::vector<std::array<double, 2>> rows;
      for (std::size_t c = 0; c < clusters.count; ++c) {
        const std::array<double, 2> center = {stream.normal(), stream.normal()};
        const std::size_t size = clusters.smallest + c % (clusters.largest - clusters.smallest + 1);
        for (std::size_t i = 0; i < size; ++i) {
          rows.push_back({center[0] + 0.1 * stream.normal(), center[1] + 0.1 * stream.normal()});
          ids.push_back(first_id + static_cast<std::int64_t>(c));
        }
      }
      Sample sample{Matrix<double>(rows.size(), 2), {}, {}};
      for (std::size_t i = 0; i < rows.size(); ++i)
        std::copy(rows[i].begin(), rows[i].end(), sample.points.row(i).begin());
      return sample;
    };
    Draw data;
    data.x = sample_of(of_x, 0);
    data.y = sample_of(of_y, 1000);
    data.design = Design::clusters(std::move(ids));
    return data;
  };
}

}  // namespace

std::vector<Scenario> weight_scenarios() {
  std::vector<Scenario> scenarios;
  const auto add = [&](const std::string& table, const std::string& row, const std::string& method,
                       const std::function<Draw(Seed)>& draw, WeightsAs weights_as, std::size_t runs) {
    Scenario scenario{.table = table,
                      .row = row,
                      .column = "`" + method + "`",
                      .draw = draw,
                      .options = {.method = method},
                      .expectation = {},
                      .runs = runs};
    scenario.options.weights_as = weights_as;
    scenario.options.test.num_permutations = kPermutations;
    scenarios.push_back(std::move(scenario));
  };
  // A precision test computes its statistic from scratch for every permutation: fewer runs of the expensive ones.
  const auto precision = [&](std::size_t nx, std::size_t ny, std::size_t adaptive_runs, std::size_t ekqd_runs) {
    const std::string row = "precision, lognormal against 1, " + std::to_string(nx) + " + " + std::to_string(ny);
    const auto draw = lognormal_against_ones(nx, ny);
    add("Weights", row, "adaptive", draw, WeightsAs::precision, adaptive_runs);
    add("Weights", row, "ekqd", draw, WeightsAs::precision, ekqd_runs);
    add("Weights", row, "energy", draw, WeightsAs::precision, 2000);
    add("Weights", row, "mmd", draw, WeightsAs::precision, 2000);
  };
  precision(20, 100, 2000, 2000);
  precision(30, 300, 100, 500);
  precision(100, 20, 500, 2000);
  const auto sampling = [&](const std::string& what, const std::function<Draw(Seed)>& draw) {
    for (const char* method : {"adaptive", "ekqd"}) {
      add("Weights", "sampling, " + what, method, draw, WeightsAs::sampling, 2000);
    }
    for (const char* method : {"energy", "mmd"}) {
      add("Weights", "sampling, " + what, method, draw, WeightsAs::sampling, 10'000);
    }
  };
  sampling("exp(x/2) against none, 100 + 100", survey(100, 100, 0.5, 0.0));
  sampling("exp(x/2) against none, 40 + 200", survey(40, 200, 0.5, 0.0));
  sampling("exp(x/2) against exp(-x/2), 100 + 100", survey(100, 100, 0.5, -0.5));

  const auto of_clusters = [&](const std::string& row, const std::function<Draw(Seed)>& draw) {
    for (const char* method : {"adaptive", "energy"}) {
      add("Cluster sizes", row, method, draw, WeightsAs::checked, 10'000);
    }
  };
  of_clusters("20 clusters of 5 rows, 20 of 1", clusters({20, 5, 5}, {20, 1, 1}));
  of_clusters("10 clusters of 1 row, 40 of 20", clusters({10, 1, 1}, {40, 20, 20}));
  of_clusters("25 clusters of 1 to 5 rows, 25 of 1", clusters({25, 1, 5}, {25, 1, 1}));
  of_clusters("24 clusters of 1 to 3 rows, 36 of 1 to 4", clusters({24, 1, 3}, {36, 1, 4}));
  of_clusters("20 clusters of 5 rows, 20 of 5", clusters({20, 5, 5}, {20, 5, 5}));
  return scenarios;
}

}  // namespace kqd::validation
