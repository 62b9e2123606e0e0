#include "sample.hpp"

#include <fmt/format.h>

#include "flags.hpp"
#include "methods.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace kqd::app {
namespace {

constexpr std::uint64_t kMostRows = 1'000'000'000;

void list_problems() {
  for (const ProblemInfo& problem : problems()) {
    print(fmt::format("{:<18} {}\n", problem.id, problem.summary));
    print_parameters(problem.parameters, "    ");
  }
}

ProblemRequest request_of(const SampleFlags& flags) {
  ProblemRequest request;
  request.name = flags.name;
  request.n_x = whole_number("rows", flags.n, 1, kMostRows);
  request.n_y = flags.m.empty() ? request.n_x : whole_number("rows_y", flags.m, 1, kMostRows);
  request.dim = whole_number("dim", flags.dim, 0, 10'000'000);
  request.seed.value = whole_number("seed", flags.seed, 0, find_option("seed")->highest);
  for (const std::string& setting : flags.parameters) set_parameter(request, setting);
  return request;
}

}  // namespace

void add_sample_flags(CLI::App& command, SampleFlags& flags) {
  std::vector<std::string> names = {"list"};
  for (const ProblemInfo& problem : problems()) names.emplace_back(problem.id);
  offer_words(*command.add_option("NAME", flags.name, "the problem; `kqd sample list` lists them")->required(), names);
  add_value(command, "-n,--rows", "N", flags.n, "rows of X");
  add_value(command, "-m,--rows-y", "N", flags.m, "rows of Y (default: as many as X)");
  add_value(command, "-d,--dim", "D", flags.dim, "columns; 0: the problem's default");
  command.add_option("--set", flags.parameters, "a parameter of the problem; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_value(command, "--seed", "S", flags.seed, "every random draw follows from it");
  command.add_option("-o,--output", flags.outputs, "the two files to write: .csv, .tsv or .npy")
      ->type_name("X Y")
      ->expected(2);
  add_value(command, "--config", "FILE", flags.config, std::string(find_option("config")->help));
}

int run_sample(const SampleFlags& flags) {
  if (flags.name == "list") {
    list_problems();
    return 0;
  }
  const ProblemRequest request = request_of(flags);
  static_cast<void>(find_problem(request.name));
  if (flags.outputs.size() != 2) {
    throw Error(ErrorCode::invalid_option, "two files to write are needed: -o X.csv Y.csv");
  }
  if (is_one_file(flags.outputs[0], flags.outputs[1])) {
    throw Error(ErrorCode::invalid_option,
                {.subject = "output", .value = flags.outputs[0], .expected = "two files, or Y would replace X"});
  }
  const SyntheticPair pair = make_problem(request);
  {
    const ProgressLine progress(true);
    write_sample(flags.outputs[0], pair.x, &progress.control());
    write_sample(flags.outputs[1], pair.y, &progress.control());
  }
  note(fmt::format("wrote {} ({} x {}) and {} ({} x {})", flags.outputs[0], pair.x.points.rows(), pair.x.points.cols(),
                   flags.outputs[1], pair.y.points.rows(), pair.y.points.cols()));
  return 0;
}

}  // namespace kqd::app
