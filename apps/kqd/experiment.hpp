#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kqd::app {

/// Options of `kqd experiment`.
struct ExperimentFlags {
  std::string name;
  std::vector<std::string> files;
  std::string scheme;
  std::string runs;
  std::string methods;
  std::string out = "experiments";
  std::string data = "data";
  std::string seed = "0";
  std::string threads = "0";
  bool quick = false;
  bool quiet = false;
};

void add_experiment_flags(CLI::App& command, ExperimentFlags& flags);

/// `kqd experiment NAME`: runs it, prints its table and the names of the files it wrote; `list` shows all.
int run_experiment_command(const ExperimentFlags& flags);

}  // namespace kqd::app
