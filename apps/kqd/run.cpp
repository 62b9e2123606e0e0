#include "run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace kqd::app {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void note(const std::string& text) {
  fmt::print(stderr, "kqd: {}\n", text);
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int run_distance(const Flags& flags) {
  const Stopwatch watch;
  const MethodInfo& method = find_method(flags.method);
  const KqdOptions options = to_options(flags);
  const SamplePair data = read_pair(flags.x, flags.y, {.weights_column = flags.weights_column});
  const KqdResult result = method.distance(data.x, data.y, options);
  const RunInfo run{.method = flags.method,
                    .x_name = flags.x,
                    .y_name = flags.y,
                    .n_x = data.x.points.rows(),
                    .n_y = data.y.points.rows(),
                    .dim = data.x.points.cols(),
                    .elapsed_s = watch.seconds()};
  if (!flags.quiet) {
    for (const std::string& text : data.notes) note(text);
  }
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
    return 0;
  }
  print(fmt::format("{:<16} {:<18} {}\n", "id", "family", "what it is"));
  for (const MethodInfo& m : methods()) print(fmt::format("{:<16} {:<18} {}\n", m.id, m.family, m.summary));
  return 0;
}

}  // namespace kqd::app
