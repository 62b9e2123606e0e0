#include "experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "experiments/experiments.hpp"
#include "flags.hpp"
#include "image.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace kqd::app {
namespace {

void list_experiments() {
  for (const ExperimentInfo& info : experiments()) {
    print(fmt::format("{:<18} {}\n{:<18} shows {}", info.id, info.summary, "", info.shows));
    if (!info.schemes.empty()) print(fmt::format("; schemes {}", fmt::join(info.schemes, ", ")));
    if (info.runs > 0) print(fmt::format("; {} runs", info.runs));
    if (info.files > 0) print(fmt::format("; of your own data with {} file{}", info.files, info.files == 1 ? "" : "s"));
    if (!info.data.empty()) print(fmt::format("; needs {}", info.data));
    print("\n");
  }
}

ExperimentOptions to_experiment_options(const ExperimentFlags& flags) {
  constexpr std::uint64_t kMostRuns = 1'000'000;
  ExperimentOptions options;
  options.scheme = flags.scheme;
  options.files = flags.files;
  if (!flags.runs.empty()) options.runs = whole_number("runs", flags.runs, 1, kMostRuns);
  options.quick = flags.quick;
  if (!flags.methods.empty()) options.methods = CLI::detail::split(flags.methods, ',');
  options.out = flags.out;
  options.data = flags.data;
  options.seed.value = whole_number("seed", flags.seed, 0, find_option("seed")->highest);
  options.threads.value =
      static_cast<unsigned>(whole_number("threads", flags.threads, 0, find_option("threads")->highest));
  return options;
}

}  // namespace

void add_experiment_flags(CLI::App& command, ExperimentFlags& flags) {
  std::vector<std::string> names = {"list"};
  std::vector<std::string> schemes;
  for (const ExperimentInfo& info : experiments()) {
    names.emplace_back(info.id);
    for (const std::string_view scheme : info.schemes) {
      if (std::ranges::find(schemes, scheme) == schemes.end()) schemes.emplace_back(scheme);
    }
  }
  offer_words(*command.add_option("NAME", flags.name, "the experiment; `kqd experiment list` lists them")->required(),
              names);
  command.add_option("FILE", flags.files,
                     "your own data to draw: figure-1 takes a file of two columns, figure-2 two files of one");
  CLI::Option* const scheme = add_value(command, "--scheme", "NAME", flags.scheme,
                                        fmt::format("how the paper's methods are run: {}; `kqd experiment list` says "
                                                    "which are offered (default: the first)",
                                                    fmt::join(schemes, ", ")));
  offer_words(*scheme, schemes);
  add_value(command, "--runs", "R", flags.runs,
            "runs of each cell (default: as planned); more are added to what is there");
  command.add_flag("--quick", flags.quick, "few runs of few cells, to see that it works");
  add_value(command, "--methods", "LIST", flags.methods, "rows to run, with commas between (default: all)");
  add_value(command, "--out", "FOLDER", flags.out, "where results, table and figure are written, and continued");
  add_value(command, "--data", "FOLDER", flags.data, "folder of data sets, as ./dev data makes it");
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  add_value(command, "--threads", "T", flags.threads,
            "0: as many as the system has; changes the speed, not the result");
  command.add_flag("--quiet", flags.quiet, "no progress and no notes");
}

int run_experiment_command(const ExperimentFlags& flags) {
  if (flags.name == "list") {
    list_experiments();
    return 0;
  }
  const ExperimentOptions options = to_experiment_options(flags);
  ExperimentReport report;
  {
    const ProgressLine progress(!flags.quiet);
    report = run_experiment(flags.name, options, &progress.control());
  }
  for (std::size_t k = report.files.size(); k-- > 0;) {
    const auto image = make_png(report.files[k]);
    if (image) report.files.push_back(*image);
  }
  print(report.table);
  if (!flags.quiet) note(fmt::format("wrote {}", fmt::join(report.files, ", ")));
  return 0;
}

}  // namespace kqd::app
