#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "config.hpp"
#include "experiment.hpp"
#include "flags.hpp"

namespace kqd::app {

/// The whole of what can be typed: every command with its flags, help and examples. Help, completions and the manual
/// are made from it, so there is no second list.
class Program {
 public:
  Program();

  [[nodiscard]] CLI::App& commands() { return app_; }

  /// Parses and runs; returns the exit code. What is wrong with the arguments is told here, other errors are thrown.
  int run(int argc, char** argv);

 private:
  void add_test();
  void add_explain();
  void add_distance();
  void add_matrix();
  void add_methods();
  void add_sample();
  void add_experiment();
  void add_completions();
  void add_manual();
  /// A command that does `work` once its flags are known.
  CLI::App* add(const std::string& name, const std::string& what, const std::string& examples,
                std::function<int()> work);

  CLI::App app_;
  Flags test_;
  Flags explain_;
  Flags distance_;
  MatrixFlags matrix_;
  MethodsFlags methods_;
  SampleFlags sample_;
  ExperimentFlags experiment_;
  std::string shell_;
  ConfigPlaces config_places_;
  int code_ = 0;
};

}  // namespace kqd::app
