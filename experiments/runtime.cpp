#include "experiments/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "experiments/chart.hpp"
#include "experiments/results_file.hpp"
#include "experiments/study.hpp"
#include "kqd/io/write.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/report/report.hpp"
#include "kqd/synthetic/problems.hpp"
#include "kqd/version.hpp"
#include "quantiles/sort.hpp"
#include "report/rows.hpp"

namespace kqd::lab {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kPermutations = 300;
constexpr std::size_t kRepetitions = 5;

struct TimedMethod {
  std::string id;
  std::string label;
  std::string method;
  double power = 1.0;
  bool quadratic = false;
};

const std::vector<TimedMethod>& timed_methods() {
  static const std::vector<TimedMethod> kMethods = {
      {"ekqd-2", "e-KQD", "ekqd", 2.0},        {"supkqd-2", "sup-KQD", "supkqd", 2.0},
      {"mmd-multi", "MMD-Multi", "mmd-multi"}, {"mmd-lin", "MMD-Lin", "mmd-lin"},
      {"mmd", "MMD", "mmd", 1.0, true},        {"ekqd-centered-2", "e-KQD centered", "ekqd-centered", 2.0, true}};
  return kMethods;
}

// Sample sizes that are timed with data of one dimension.
struct Setting {
  std::size_t dim;
  std::vector<std::size_t> sizes;
  bool near_linear_alone = false;
};

std::vector<Setting> settings(bool quick) {
  if (quick) return {{64, {100, 200}}, {10, {1000}, true}};
  return {{3072, {100, 500, 1000, 1500, 2000}},
          {12288, {100, 500, 1000, 1500, 2000}},
          {10, {10'000, 100'000, 1'000'000}, true}};
}

TwoSampleOptions options_of(const TimedMethod& method, std::size_t n) {
  TwoSampleOptions options;
  options.method = method.method;
  options.statistic.power = method.power;
  options.statistic.directions.num_directions = floor_log(n) + 1;
  options.statistic.directions.num_reference = floor_log(n);
  options.statistic.threads = ThreadCount{1};
  options.statistic.allow_quadratic = true;
  options.test.num_permutations = kPermutations;
  if (method.id == "mmd-multi" || method.id == "mmd-lin") options.calibration = Calibration::sign_flip;
  return options;
}

// "AMD EPYC 7B13", where the system has this name.
std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The key of a time: "3072 500 ekqd-2 test".
std::string key_of(std::size_t dim, std::size_t n, std::string_view method, std::string_view what) {
  return fmt::format("{} {} {} {}", dim, n, method, what);
}

using Times = std::map<std::string, std::vector<double>>;

// Steps of an e-KQD test: directions and projections, sorting, and the rest, which is permutations.
void time_parts(const SyntheticPair& data, const TwoSampleOptions& options, const std::string& place, Times& times) {
  const std::size_t n = data.x.points.rows() + data.y.points.rows();
  Matrix<double> values;
  times[place + " projections"].push_back(seconds_of([&] {
    Warnings warnings;
    const KernelSpec kernel = resolve(options.statistic.kernel, data.x, data.y, options.statistic.bandwidth_rule,
                                      options.statistic.seed, warnings);
    const DrawnDirections drawn = draw_directions(Kernel(kernel), data.x, data.y, options.statistic.directions,
                                                  options.statistic.seed, ThreadCount{1});
    values = Matrix<double>(drawn.directions->count(), n);
    drawn.directions->evaluate(data.x.points, 0, values.view().column_range(0, n / 2), ThreadCount{1});
    drawn.directions->evaluate(data.y.points, 0, values.view().column_range(n / 2, n - n / 2), ThreadCount{1});
  }));
  std::vector<std::uint32_t> order(n);
  times[place + " sort"].push_back(seconds_of([&] {
    for (std::size_t i = 0; i < values.rows(); ++i) argsort(values.row(i), order);
  }));
}

class Timing {
 public:
  Timing(const ExperimentOptions& options, const RunControl* control) : options_(options), control_(control) {
    path_ = (std::filesystem::path(options.out) / (options.quick ? "runtime.quick.json" : "runtime.json")).string();
    require_writable(path_);
    resume();
  }

  void run() {
    try {
      const StopScope stop(control_);
      for (const Setting& setting : settings(options_.quick)) {
        for (const std::size_t n : setting.sizes) run_place(setting, n);
      }
    } catch (const Error& error) {
      rethrow_interruption(error, path_);
      throw;
    }
    save();
  }

  [[nodiscard]] const Times& times() const { return times_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void run_place(const Setting& setting, std::size_t n) {
    std::vector<TimedMethod> missing;
    for (const TimedMethod& method : timed_methods()) {
      if (setting.near_linear_alone && method.quadratic) continue;
      if (!is_timed(method, setting.dim, n)) missing.push_back(method);
    }
    if (missing.empty()) return;
    const SyntheticPair data =
        make_problem({.name = "null", .n_x = n, .n_y = n, .dim = setting.dim, .seed = options_.seed});
    for (const TimedMethod& method : missing) {
      show_progress(fmt::format("{}, n = {}, d = {}", method.label, n, setting.dim));
      time_method(data, method, setting.dim, n);
      save();
    }
  }

  void time_method(const SyntheticPair& data, const TimedMethod& method, std::size_t dim, std::size_t n) {
    const TwoSampleOptions options = options_of(method, n);
    Times fresh;  // kept when complete
    for (std::size_t r = 0; r < (options_.quick ? 1 : kRepetitions); ++r) {
      stop_point();
      fresh[key_of(dim, n, method.id, "statistic")].push_back(
          seconds_of([&] { static_cast<void>(distance(method.method, data.x, data.y, options.statistic, control_)); }));
      fresh[key_of(dim, n, method.id, "test")].push_back(
          seconds_of([&] { static_cast<void>(two_sample_test(data.x, data.y, options, control_)); }));
      if (method.method == "ekqd") time_parts(data, options, fmt::format("{} {} {}", dim, n, method.id), fresh);
    }
    times_.merge(fresh);
  }

  void resume() {
    const Json saved = read_results(path_);
    if (saved.is_null()) return;
    require_same(path_, saved, identity());
    try {
      times_ = saved.at("seconds").get<Times>();
    } catch (const Json::exception&) {
      refuse_results(path_, "not a file of times of this experiment");
    }
    for (const auto& [key, seconds] : times_) {
      const auto plausible = [](double value) { return value > 0.0 && value < 1e9; };
      if (seconds.empty() || !std::ranges::all_of(seconds, plausible)) {
        refuse_results(path_, fmt::format("\"{}\" has no valid times", key));
      }
    }
  }

  // All times of a method that the tables need at a sample size.
  [[nodiscard]] bool is_timed(const TimedMethod& method, std::size_t dim, std::size_t n) const {
    std::vector<std::string_view> parts = {"statistic", "test"};
    if (method.method == "ekqd") parts.insert(parts.end(), {"projections", "sort"});
    return std::ranges::all_of(parts,
                               [&](std::string_view part) { return times_.contains(key_of(dim, n, method.id, part)); });
  }

  // Settings that must be equal for times in one table.
  [[nodiscard]] Json identity() const {
    return {{"version", kVersion},           {"experiment", "runtime"},
            {"quick", options_.quick},       {"seed", options_.seed.value},
            {"permutations", kPermutations}, {"machine", machine_name()},
            {"simd", simd_name()},           {"threads", 1}};
  }

  void save() const {
    Json saved = {{"schema", "kqd.experiment/1"}};
    saved.update(identity());
    saved["seconds"] = times_;
    write_text(path_, saved.dump(1) + "\n");
  }

  void show_progress(const std::string& what) const {
    if (control_ != nullptr && control_->progress) control_->progress({.what = what});
  }

  const ExperimentOptions& options_;
  const RunControl* control_;
  std::string path_;
  Times times_;
};

std::string seconds_text(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.0f} us", 1e6 * seconds)
         : seconds < 1.0 ? fmt::format("{:.1f} ms", 1e3 * seconds)
                         : fmt::format("{:.2f} s", seconds);
}

// One table for a dimension: each method's statistic and test.
std::string method_table(const Setting& setting, const Times& times) {
  std::vector<std::vector<std::string>> lines = {{fmt::format("d = {}", setting.dim)}};
  for (const std::size_t n : setting.sizes) lines.front().push_back(fmt::format("n = {}", n));
  for (const TimedMethod& method : timed_methods()) {
    for (const char* what : {"statistic", "test"}) {
      std::vector<std::string> line = {fmt::format("{}, {}", method.label, what)};
      for (const std::size_t n : setting.sizes) {
        const auto found = times.find(key_of(setting.dim, n, method.id, what));
        line.push_back(found == times.end() ? "" : seconds_text(median(found->second)));
      }
      if (std::ranges::any_of(line.begin() + 1, line.end(), [](const std::string& cell) { return !cell.empty(); }))
        lines.push_back(std::move(line));
    }
  }
  return markdown_table(lines);
}

std::string parts_table(const std::vector<Setting>& all, const Times& times) {
  std::vector<std::vector<std::string>> lines = {{"e-KQD, p = 2", "projections", "sort", "permutations"}};
  for (const Setting& setting : all) {
    for (const std::size_t n : setting.sizes) {
      const auto at = [&](const char* what) { return median(times.at(key_of(setting.dim, n, "ekqd-2", what))); };
      const double permutations = std::max(0.0, at("test") - at("projections") - at("sort"));
      lines.push_back({fmt::format("d = {}, n = {}", setting.dim, n), seconds_text(at("projections")),
                       seconds_text(at("sort")), seconds_text(permutations)});
    }
  }
  return markdown_table(lines);
}

// Powers of ten, between those around all times of tests.
Axis seconds_axis(const Times& times, bool first) {
  double least = 1e-3;
  double most = 1.0;
  for (const auto& [key, seconds] : times) {
    if (!key.ends_with(" test")) continue;
    least = std::min(least, std::ranges::min(seconds));
    most = std::max(most, std::ranges::max(seconds));
  }
  const double first_power = std::floor(std::log10(least));
  const double last_power = std::ceil(std::log10(most));
  Axis axis{.title = first ? "seconds" : "",
            .low = std::pow(10.0, first_power),
            .high = std::pow(10.0, last_power),
            .log = true};
  for (double power = first_power; power <= last_power; power += 1.0) {
    const double place = std::pow(10.0, power);
    axis.ticks.push_back({place, shortest(place)});
  }
  return axis;
}

ChartPanel panel_of(const Setting& setting, const Times& times, bool first) {
  const auto low = static_cast<double>(setting.sizes.front());
  const auto high = static_cast<double>(setting.sizes.back());
  ChartPanel panel{.title = fmt::format("test, d = {}", setting.dim),
                   .x = {.title = "sample size n", .low = 0.8 * low, .high = 1.25 * high, .log = true},
                   .y = seconds_axis(times, first),
                   .series = {}};
  for (const std::size_t n : setting.sizes) {
    const auto place = static_cast<double>(n);
    panel.x.ticks.push_back({place, n >= 10'000 ? fmt::format("{:.0e}", place) : std::to_string(n)});
  }
  for (std::size_t k = 0; k < timed_methods().size(); ++k) {
    const TimedMethod& method = timed_methods()[k];
    Series series{.label = method.label,
                  .points = {},
                  .colour = palette_colour(k),
                  .marker = palette_marker(k),
                  .stroke = method.quadratic ? Stroke::dotted : Stroke::solid};
    for (const std::size_t n : setting.sizes) {
      const auto found = times.find(key_of(setting.dim, n, method.id, "test"));
      if (found == times.end()) continue;
      const auto [least, most] = std::ranges::minmax(found->second);
      series.points.push_back({static_cast<double>(n), median(found->second), Interval{least, most}});
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  return panel;
}

}  // namespace

ExperimentReport runtime(const ExperimentOptions& options, const RunControl* control) {
  Timing timing(options, control);
  timing.run();
  const std::vector<Setting> all = settings(options.quick);
  std::string text =
      fmt::format("### Runtime\n\nSeconds on one thread{}: a statistic, and a test of {} permutations.\n",
                  options.quick ? "" : fmt::format(", median of {} repetitions", kRepetitions), kPermutations);
  std::vector<ChartPanel> panels;
  for (const Setting& setting : all) {
    text += "\n" + method_table(setting, timing.times());
    panels.push_back(panel_of(setting, timing.times(), panels.empty()));
  }
  text += "\nTime of a test by step; the time of permutations is the rest of the total.\n\n" +
          parts_table(all, timing.times());
  const std::string stem = timing.path().substr(0, timing.path().size() - std::string_view(".json").size());
  write_text(stem + ".md", text);
  write_text(stem + ".svg", svg_chart(panels));
  return {text, {timing.path(), stem + ".md", stem + ".svg"}};
}

}  // namespace kqd::lab
