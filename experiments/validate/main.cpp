#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>

#include "core/fail.hpp"
#include "results.hpp"

namespace kqd::validation {
namespace {

/// The command line.
struct Request {
  std::filesystem::path results = "experiments/validate/results.txt";
  std::filesystem::path page;
  std::vector<std::string> only;
  std::size_t runs = 0;
  std::uint64_t seed = 0;
  unsigned threads = 0;
  bool configurations = false;
  bool groups = false;
  bool list = false;
};

// Approximate operations of one run (Gram matrix or projections, then permutations), for the remaining time only.
double work_of_run(const Scenario& scenario) {
  const Draw data = scenario.draw(Seed{0});
  const std::size_t rows = data.x.points.rows() + data.y.points.rows();
  const auto n = static_cast<double>(rows);
  const auto dim = static_cast<double>(data.x.points.cols());
  const auto directions =
      static_cast<double>(scenario.options.statistic.directions.num_directions.value_or(default_num_directions(rows)));
  const auto permutations = static_cast<double>(scenario.options.test.num_permutations);
  const bool quadratic = scenario.options.method.find("kqd") == std::string::npos ||
                         scenario.options.method.find("centered") != std::string::npos;
  return 2e5 + n * n * dim + permutations * n * (quadratic ? n : 0.0) + permutations * n * directions;
}

/// "37%, 12 min left: Restricted designs | ..." on stderr, once a second.
class Progress {
 public:
  explicit Progress(double total_work) : total_work_(total_work) {}

  void start(const Scenario& scenario) {
    name_ = scenario.name();
    work_of_run_ = work_of_run(scenario);
  }

  /// Thread-safe.
  void run_done() {
    const std::scoped_lock lock(mutex_);
    done_ += work_of_run_;
    const auto now = Clock::now();
    if (!on_terminal_ || now - last_ < std::chrono::seconds(1)) return;
    last_ = now;
    const double elapsed_s = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr, "\r{:3.0f}%, {:.1f} min left: {}\033[K", 100.0 * done_ / total_work_,
               elapsed_s * (total_work_ - done_) / done_ / 60.0, name_);
    std::fflush(stderr);
  }

  void finish() const {
    if (on_terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_terminal_ = isatty(STDERR_FILENO) == 1;
  double total_work_;
  double done_ = 0.0;
  double work_of_run_ = 0.0;
  std::string name_;
  std::mutex mutex_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

std::vector<Scenario> chosen_scenarios(const Request& request) {
  std::vector<Scenario> scenarios = request.groups ? group_power_scenarios() : all_scenarios();
  std::erase_if(scenarios, [&](const Scenario& scenario) {
    return !std::ranges::all_of(request.only, [name = scenario.name()](const std::string& part) {
      return name.find(part) != std::string::npos;
    });
  });
  if (request.runs > 0) {
    for (Scenario& scenario : scenarios) scenario.runs = request.runs;
  }
  return scenarios;
}

// Runs scenarios that have no results.
void run_missing(const std::vector<Scenario>& scenarios, Results& results, const Request& request) {
  const ThreadCount threads{request.threads};
  const auto is_missing = [&](const Scenario& scenario) { return scenario.draw && !results.find(scenario); };
  double work = 0.0;
  for (const Scenario& scenario : scenarios) {
    if (is_missing(scenario)) work += work_of_run(scenario) * static_cast<double>(scenario.runs);
  }
  Progress progress(work);
  for (const Scenario& scenario : scenarios) {
    if (!is_missing(scenario)) continue;
    progress.start(scenario);
    results.add(scenario,
                count_rejections(scenario, scenario.runs, threads, Seed{request.seed}, [&] { progress.run_done(); }));
  }
  progress.finish();
}

// Lists rates that are not as expected; returns 1 if there are any, else 0.
int report(const std::vector<Scenario>& scenarios, const Results& results) {
  std::size_t known = 0;
  std::size_t misses = 0;
  for (const Scenario& scenario : scenarios) {
    const auto rejections = results.find(scenario);
    if (!rejections) continue;
    ++known;
    if (meets(scenario, *rejections)) continue;
    ++misses;
    fmt::print("not as expected: {}: {} of {} rejected\n", scenario.name(), rejections->successes, rejections->runs);
  }
  fmt::print("{} of {} rates as expected\n", known - misses, known);
  if (known < scenarios.size()) {
    fmt::print("{} not run: `./dev data` fetches the images they need\n", scenarios.size() - known);
  }
  return misses == 0 ? 0 : 1;
}

// For every kind of difference: the configuration of the adaptive test with most rejections in one set of runs, and the
// power of it and of the whole test in another set.
int compare_configurations(const std::vector<Scenario>& scenarios, const Request& request) {
  fmt::print(
      "| difference | best single configuration, chosen on other runs | its power | adaptive |\n|---|---|---|---|\n");
  for (const Scenario& scenario : scenarios) {
    if (scenario.table != "Power study" || scenario.column != "adaptive" || !scenario.draw) continue;
    const ThreadCount threads{request.threads};
    const ConfigurationCounts first = count_configurations(scenario, scenario.runs, threads, Seed{request.seed + 1});
    const ConfigurationCounts second = count_configurations(scenario, scenario.runs, threads, Seed{request.seed + 2});
    const auto best = std::ranges::max_element(first.single, {}, &Count::successes) - first.single.begin();
    const auto place = static_cast<std::size_t>(best);
    fmt::print("| {} | {} | {:.3f} | {:.3f} |\n", scenario.row, first.names[place], second.single[place].rate(),
               second.aggregate.rate());
    std::fflush(stdout);
  }
  return 0;
}

// Power of groups of rows against that of rows, on the same data. Returns 1 where groups lose more than allowed.
int compare_groups(const std::vector<Scenario>& scenarios, const Request& request) {
  constexpr double kMostLost = 0.03;
  bool loses = false;
  fmt::print("| difference | test | rows | groups | groups - rows | standard error |\n|---|---|---|---|---|---|\n");
  for (const Scenario& scenario : scenarios) {
    const PairedCounts counts =
        count_rows_and_groups(scenario, scenario.runs, ThreadCount{request.threads}, Seed{request.seed});
    fmt::print("| {} | {} | {:.3f} | {:.3f} | {:+.3f} | {:.3f} |\n", scenario.row, scenario.column, counts.first.rate(),
               counts.second.rate(), counts.difference(), counts.standard_error());
    std::fflush(stdout);
    loses = loses || -counts.difference() > kMostLost;
  }
  return loses ? 1 : 0;
}

// A line for every scenario, as in the file of results: rejections ("-" if not run), runs, name.
int list(const std::vector<Scenario>& scenarios, const Results& results) {
  for (const Scenario& scenario : scenarios) {
    const auto rejections = results.find(scenario);
    fmt::print("{} {} {}\n", rejections ? fmt::to_string(rejections->successes) : "-", scenario.runs, scenario.name());
  }
  return 0;
}

int run(const Request& request) {
  const std::vector<Scenario> scenarios = chosen_scenarios(request);
  if (scenarios.empty()) {
    fail(ErrorCode::invalid_option, "no scenario's name contains all of {}", fmt::join(request.only, ", "));
  }
  if (request.groups) return compare_groups(scenarios, request);
  if (request.configurations) return compare_configurations(scenarios, request);
  Results results(request.results);
  if (request.list) return list(scenarios, results);
  run_missing(scenarios, results, request);
  // The page shows all finished scenarios, not only those of this call.
  if (!request.page.empty()) write_tables(request.page, markdown_tables(all_scenarios(), results));
  return report(scenarios, results);
}

int run_program(int argc, char** argv) {
  Request request;
  CLI::App app("Measures the level and the power of the tests.");
  app.add_option("--results", request.results, "file of finished scenarios, to which results are added")
      ->capture_default_str();
  app.add_option("--page", request.page, "page whose tables are replaced");
  app.add_option("--only", request.only, "scenarios whose name contains all of these");
  app.add_option("--runs", request.runs, "runs of each scenario; 0: the default")->capture_default_str();
  app.add_option("--seed", request.seed, "seed of the data; use another file of results for another seed")
      ->capture_default_str();
  app.add_option("--threads", request.threads, "0 asks the system")->capture_default_str();
  app.add_flag("--list", request.list, "print the scenarios and their results, and run none");
  app.add_flag("--configurations", request.configurations,
               "compare the adaptive test with its best single configuration instead");
  app.add_flag("--groups", request.groups, "compare the power of groups with that of rows instead");
  CLI11_PARSE(app, argc, argv);
  return run(request);
}

}  // namespace
}  // namespace kqd::validation

int main(int argc, char** argv) {
  try {
    return kqd::validation::run_program(argc, argv);
  } catch (const std::exception& error) {
    std::fputs("kqd_validate: ", stderr);
    std::fputs(error.what(), stderr);
    std::fputs("\n", stderr);
    return 2;
  }
}
