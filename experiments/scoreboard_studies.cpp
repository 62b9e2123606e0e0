#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "experiments/columns.hpp"
#include "experiments/published.hpp"
#include "experiments/studies.hpp"

namespace kqd::lab {
namespace {

constexpr std::size_t kRuns = 200;
constexpr std::int64_t kPermutations = 999;
// Tests that evaluate many kernels for each pair of rows need about a minute for samples of 4000 rows.
constexpr std::size_t kLargestForManyKernels = 1000;

struct BoardRow {
  std::string id;
  std::string label;
  std::string method;
  bool compared = false;  ///< rates of the same test are published under the same label
  std::size_t largest_n = std::numeric_limits<std::size_t>::max();
};

// MMD-FUSE is not compared, because the released code computes another statistic than its formula (erratum 43).
const std::vector<BoardRow>& board_rows() {
  static const std::vector<BoardRow> kRows = {
      {"adaptive", "adaptive (default)", "adaptive"},
      {"ekqd-1", "e-KQD", "ekqd"},
      {"mmd", "MMD", "mmd", true},
      {"mmd-agg", "MMDAgg", "mmd-agg", true, kLargestForManyKernels},
      {"mmd-fuse", "MMD-FUSE", "mmd-fuse", false, kLargestForManyKernels},
      {"energy", "energy distance", "energy"},
  };
  return kRows;
}

struct BoardProblem {
  std::string name;
  ProblemRequest request;
  PublishedProblem published = {};
  bool is_null = false;  ///< both samples have the same distribution: the rate is the level
};

ProblemRequest request(std::string name, std::size_t n, std::size_t dim,
                       const std::vector<std::string>& settings = {}) {
  ProblemRequest made{.name = std::move(name), .n_x = n, .n_y = n, .dim = dim};
  for (const std::string& setting : settings) set_parameter(made, setting);
  return made;
}

BoardProblem null_of(std::string name, ProblemRequest request, PublishedProblem published = {}) {
  return {"no difference: " + std::move(name), std::move(request), std::move(published), true};
}

// [SWP25], 100 + 100 rows.
void add_high_dimension(std::vector<BoardProblem>& problems) {
  for (const std::size_t d : {500U, 1500U}) {
    const auto add = [&](const std::string& name, const std::string& published, ProblemRequest made) {
      problems.push_back(
          {fmt::format("{}, d = {}", name, d), std::move(made), benchmark_counts(fmt::format("{}-{}", published, d))});
    };
    add("mean of 2 columns", "sparse-mean", request("mean-shift", 100, d, {"delta=1", "k=2"}));
    add("mean of 4 Laplace columns", "laplace-sparse-mean",
        request("mean-shift", 100, d, {"delta=1", "k=4", "distribution=laplace"}));
    add("two clusters", "two-clusters", request("two-clusters", 100, d));
    add("spiked covariance", "spiked-covariance", request("spiked-covariance", 100, d));
    problems.push_back(null_of(fmt::format("normal, d = {}", d), request("null", 100, d)));
  }
  problems.push_back(null_of("Laplace, d = 500", request("null", 100, 500, {"distribution=laplace"})));
  for (const char* const eps : {"0.025", "0.05"}) {
    const double rho = 0.5 + std::stod(eps);
    problems.push_back({fmt::format("equicorrelation 0.5 and {}, d = 500", rho),
                        request("equicorrelation", 100, 500, {fmt::format("rho_y={}", rho)}),
                        benchmark_counts(fmt::format("equicorrelation-{}", eps))});
  }
  problems.push_back(null_of("equicorrelation 0.5, d = 500", request("equicorrelation", 100, 500, {"rho_y=0.5"})));
  for (const char* const eps : {"0.05", "0.1"}) {
    const double rho = 0.5 + std::stod(eps);
    problems.push_back({fmt::format("AR correlation 0.5 and {}, d = 500", rho),
                        request("ar-correlation", 100, 500, {fmt::format("rho_y={}", rho)}),
                        benchmark_counts(fmt::format("ar-correlation-{}", eps))});
  }
  problems.push_back(null_of("AR correlation 0.5, d = 500", request("ar-correlation", 100, 500, {"rho_y=0.5"})));
  for (const std::size_t d : {50U, 1500U}) {
    problems.push_back({fmt::format("concentric spheres, d = {}", d), request("spheres", 100, d),
                        benchmark_counts(fmt::format("spheres-{}", d))});
    problems.push_back(null_of(fmt::format("sphere, d = {}", d), request("spheres", 100, d, {"radius=1"})));
  }
  problems.push_back({"thin cube, d = 1500", request("thin-cube", 100, 1500), benchmark_counts("thin-cube-1500")});
  problems.push_back(null_of("cube, d = 1500", request("thin-cube", 100, 1500, {"margin=0"})));
}

// [CB23], 100 + 100 rows.
void add_location_and_scale(std::vector<BoardProblem>& problems) {
  problems.push_back({"mean of all columns, d = 150",
                      request("mean-shift", 100, 150, {fmt::format("delta={}", 1.25 / std::sqrt(150.0)), "k=150"}),
                      benchmark_counts("location-150")});
  problems.push_back({"variance 1.2 in all columns, d = 20", request("scale", 100, 20), benchmark_counts("scale-20")});
  problems.push_back(null_of("normal, d = 20", request("null", 100, 20)));
  problems.push_back({"scale 1.22 of t(10), d = 75", request("scaled-t", 100, 75), benchmark_counts("scaled-t-75")});
  problems.push_back(null_of("t(10), d = 75", request("scaled-t", 100, 75, {"scale=1"})));
}

// [Sch23] and [Big23], 500 + 500 rows. The waves of [Sch23] have height 2.7/e over the number of perturbations.
void add_low_dimension(std::vector<BoardProblem>& problems) {
  for (const int perturbations : {3, 4}) {
    problems.push_back({fmt::format("perturbed uniform, {} perturbations, n = 500", perturbations),
                        request("perturbed-uniform", 500, 1,
                                {fmt::format("perturbations={}", perturbations), "smoothness=1",
                                 fmt::format("scale={}", 2.7 / std::numbers::e)}),
                        benchmark_counts(fmt::format("perturbed-uniform-{}", perturbations))});
  }
  for (const double scale : {0.2, 0.3, 0.4}) {
    problems.push_back({fmt::format("perturbed uniform, height {}, n = 500", scale),
                        request("perturbed-uniform", 500, 1, {fmt::format("scale={}", scale)}),
                        fuse_problem("perturbed_uniform_d1_vary_scale", scale)});
  }
  problems.push_back(null_of("uniform, n = 500", request("perturbed-uniform", 500, 1, {"scale=0"}),
                             fuse_problem("perturbed_uniform_d1_vary_scale", 0.0)));
  for (const double sd : {0.7, 1.6}) {
    problems.push_back({fmt::format("four normals, one of SD {}, n = 500", sd),
                        request("mixture", 500, 2, {fmt::format("sd={}", sd)}), fuse_problem("mixture_vary_sd", sd)});
  }
  problems.push_back(
      null_of("four normals, n = 500", request("mixture", 500, 2, {"sd=1"}), fuse_problem("mixture_vary_sd", 1.0)));
}

void add_interactions(std::vector<BoardProblem>& problems) {
  problems.push_back({"HDGM, d = 10, n = 4000", request("hdgm", 4000, 10)});
  problems.push_back(null_of("HDGM, d = 10, n = 4000", request("hdgm", 4000, 10, {"rho=0"})));
  struct Table {
    int k;
    int levels;
    int m;
  };
  for (const auto& [k, levels, m] : {Table{1, 4, 1}, Table{2, 4, 3}, Table{3, 6, 8}}) {
    const auto table = [&](const char* delta) {
      return request("mixed-table", 300, 0,
                     {fmt::format("k={}", k), fmt::format("levels={}", levels), fmt::format("m={}", m), delta});
    };
    const std::string name = fmt::format("table of {} x {} levels + {} numeric, n = 300", k, levels, m);
    problems.push_back({name, table("delta=0.4")});
    problems.push_back(null_of(name, table("delta=0")));
  }
}

std::vector<BoardProblem> board_problems() {
  std::vector<BoardProblem> problems;
  add_high_dimension(problems);
  add_location_and_scale(problems);
  add_low_dimension(problems);
  add_interactions(problems);
  return problems;
}

std::optional<BestPublished> best_of(const BoardProblem& problem) {
  if (problem.is_null || problem.published.tests.empty()) return std::nullopt;
  const auto rate = [](const auto& test) { return test.second.rate(); };
  const auto best = std::ranges::max_element(problem.published.tests, {}, rate);
  const bool tied = std::ranges::count(problem.published.tests, rate(*best), rate) > 1;
  return BestPublished{rate(*best), tied ? "several" : best->first, problem.published.source};
}

std::optional<Count> published_rate(const BoardProblem& problem, const BoardRow& row) {
  const auto found = problem.published.tests.find(row.label);
  return found != problem.published.tests.end() ? std::optional(found->second) : std::nullopt;
}

// Approximate seconds of all tests of a run, for the estimate of the remaining time.
double work_of(const ProblemRequest& request) {
  const auto n = static_cast<double>(request.n_x);
  const double pairs = request.n_x > kLargestForManyKernels ? 0.03 : 1.3;  // without the tests of many kernels
  return 0.1 + n * static_cast<double>(request.dim) / 3e5 + pairs * (n / 500.0) * (n / 500.0);
}

}  // namespace

Study scoreboard(const StudyRequest&) {
  Study study;
  study.id = "scoreboard";
  study.title = "Published benchmarks";
  study.axis = "problem";
  study.columns_down = true;
  study.comparison = "the published rate of the same test";
  study.runs = kRuns;
  study.settings["permutations"] = kPermutations;
  const std::vector<BoardProblem> problems = board_problems();
  for (const BoardProblem& problem : problems) {
    const auto number = static_cast<double>(study.columns.size() + 1);
    study.columns.push_back(synthetic_column(number, problem.request, work_of(problem.request)));
    study.columns.back().name = problem.name;
    study.settings["problems"].push_back(problem.name);  // results of another list of problems are not combined
    study.columns.back().best = best_of(problem);
  }
  Panel panel{"", {}};
  for (const BoardRow& row : board_rows()) {
    Row added{.id = row.id, .label = row.label};
    if (row.compared) {
      for (const BoardProblem& problem : problems) added.published.push_back(published_rate(problem, row));
    }
    // The tests share nothing, so that each is timed as a user would run it.
    study.bundles.push_back(
        {.rows = {study.rows.size()},
         .reject = [method = row.method](const Column&, const Draw& data, Seed seed) -> std::vector<bool> {
           TwoSampleOptions options;
           options.method = method;
           options.test.num_permutations = kPermutations;
           return {rejects(data, std::move(options), seed)};
         },
         .largest_n = row.largest_n});
    panel.rows.push_back(row.id);
    study.rows.push_back(std::move(added));
  }
  study.panels = {std::move(panel)};
  study.note =
      "Both samples have 100 rows unless n is stated. Lines \"no difference\" show the level: an exact test rejects in "
      "at most 0.05 of all runs. P-values of [SWP25] lack the + 1, so the level of those tests is only known to be at "
      "most 0.116. MMDAgg and MMD-FUSE are not run on 4000 + 4000 rows.";
  return study;
}

}  // namespace kqd::lab
