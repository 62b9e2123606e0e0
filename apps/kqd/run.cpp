#include "run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "output.hpp"
#include "progress.hpp"

namespace kqd::app {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

SamplePair read(const Flags& flags) {
  const ReadOptions options = to_read_options(flags);
  SamplePair data =
      flags.group.empty() ? read_pair(flags.x, flags.y, options) : read_grouped(flags.x, flags.group, options);
  if (!flags.quiet) {
    for (const std::string& text : data.notes) note(text);
  }
  return data;
}

RunInfo run_info(const MethodInfo& method, const Flags& flags, const SamplePair& data, const Stopwatch& watch) {
  return {.method = std::string(method.id),
          .x_name = flags.x,
          .y_name = flags.group.empty() ? flags.y : flags.x,
          .n_x = data.x.points.rows(),
          .n_y = data.y.points.rows(),
          .dim = data.x.points.cols(),
          .preparation = data.preparation,
          .elapsed_s = watch.seconds()};
}

void list_parameters(std::span<const ParameterInfo> parameters, std::string_view indent) {
  for (const ParameterInfo& parameter : parameters) {
    print(fmt::format("{}{:<14} {} (default {}; {})\n", indent, parameter.name, parameter.meaning,
                      parameter_text(parameter, parameter.default_value), parameter_range(parameter)));
  }
}

void list_problems() {
  for (const ProblemInfo& problem : problems()) {
    print(fmt::format("{:<18} {}\n", problem.id, problem.summary));
    list_parameters(problem.parameters, "    ");
  }
}

}  // namespace

int run_test(const Flags& flags) {
  const Stopwatch watch;
  const MethodInfo& method = find_method(flags.method);
  TwoSampleOptions options = to_test_options(flags);
  SamplePair data = read(flags);
  options.test.design = design_of(flags, std::move(data.units));
  TwoSampleResult result;
  {
    const ProgressLine progress(!flags.quiet);
    result = two_sample_test(data.x, data.y, options, &progress.control());
  }
  const RunInfo run = run_info(method, flags, data, watch);
  if (flags.json) {
    print(test_json(result, options, run));
  } else if (flags.quiet) {
    print(fmt::format("{}\n", result.test.pvalue));
  } else {
    print(test_text(result, options, run));
  }
  return flags.exit_code && result.test.reject ? 1 : 0;
}

int run_distance(const Flags& flags) {
  const Stopwatch watch;
  const MethodInfo& method = find_method(flags.method);
  const KqdOptions options = to_options(flags);
  const SamplePair data = read(flags);
  KqdResult result;
  {
    const ProgressLine progress(!flags.quiet);
    result = distance(method.id, data.x, data.y, options, &progress.control());
  }
  const RunInfo run = run_info(method, flags, data, watch);
  if (flags.json) {
    print(distance_json(result, options, run));
  } else if (flags.quiet) {
    print(fmt::format("{}\n", result.statistic));
  } else {
    print(distance_text(result, options, run));
  }
  return 0;
}

int run_methods(const std::string& id) {
  if (!id.empty()) {
    const MethodInfo& m = find_method(id);
    print(fmt::format("\n{}: {}\n\n{}\n\n", m.id, m.summary, m.details));
    print(
        fmt::format("  family        {}\n  reports       {}\n  cost          {}\n  per labelling {}\n"
                    "  calibration   {}\n  reference     {}\n\n",
                    m.family, m.reports, m.cost, m.permutation, m.calibrations, m.reference));
    if (!m.parameters.empty()) {
      print("Parameters, as --set NAME=VALUE:\n");
      list_parameters(m.parameters, "  ");
      print("\n");
    }
    return 0;
  }
  print(fmt::format("{:<16} {:<18} {}\n", "id", "family", "what it is"));
  for (const MethodInfo& m : methods()) print(fmt::format("{:<16} {:<18} {}\n", m.id, m.family, m.summary));
  return 0;
}

int run_sample(const SampleFlags& flags) {
  if (flags.name == "list") {
    list_problems();
    return 0;
  }
  const ProblemRequest request = to_request(flags);
  static_cast<void>(find_problem(request.name));
  if (flags.outputs.size() != 2) {
    throw Error(ErrorCode::invalid_option, "two files to write are needed: -o X.csv Y.csv");
  }
  if (std::filesystem::path(flags.outputs[0]) == flags.outputs[1]) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("--output names {} twice, Y would replace X; expected two files", flags.outputs[0]));
  }
  const SyntheticPair pair = make_problem(request);
  write_sample(flags.outputs[0], pair.x);
  write_sample(flags.outputs[1], pair.y);
  note(fmt::format("wrote {} ({} x {}) and {} ({} x {})", flags.outputs[0], pair.x.points.rows(), pair.x.points.cols(),
                   flags.outputs[1], pair.y.points.rows(), pair.y.points.cols()));
  return 0;
}

}  // namespace kqd::app
