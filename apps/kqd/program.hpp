#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <set>
#include <string>

#include "experiment.hpp"
#include "methods.hpp"
#include "plan.hpp"
#include "profile.hpp"
#include "run.hpp"
#include "sample.hpp"

namespace kqd::app {

/// Every command with its options, help and examples. Help, completions and the manual are made from it, so there is no
/// second list.
class Program {
 public:
  Program();

  [[nodiscard]] CLI::App& commands() { return app_; }

  /// Parses and runs; returns the exit code. Wrong arguments are reported here, other errors are thrown.
  int run(int argc, char** argv);

 private:
  void add_comparisons();
  void add_others();
  /// A command that does `work` once its options are known.
  CLI::App* add(const std::string& name, const std::string& what, const std::string& examples,
                std::function<int()> work);
  /// A command of the library that compares samples.
  CLI::App* add_comparison(const std::string& name, const std::string& what, const std::string& examples, Command which,
                           int (*work)(const Request& request));
  static Settings read_settings(const CLI::App& command, Command which);
  [[nodiscard]] Request read_request(CLI::App& command, Command which);
  void read_config(const std::string& file, CLI::App& command);
  [[nodiscard]] ErrorParts naming_config(ErrorParts parts) const;

  CLI::App app_;
  MethodsFlags methods_;
  SampleFlags sample_;
  ProfileFlags profile_;
  PlanFlags plan_;
  MergeFlags merge_;
  ExperimentFlags experiment_;
  std::string shell_;
  std::string command_line_;
  std::string config_file_;
  std::set<std::string> config_options_;  // that the file has set
  int code_ = 0;
};

}  // namespace kqd::app
