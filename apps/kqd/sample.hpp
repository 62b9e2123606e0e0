#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kqd::app {

/// Options of `kqd sample`.
struct SampleFlags {
  std::string name;
  std::string n = "500";
  std::string m;
  std::string dim = "0";
  std::string seed = "0";
  std::vector<std::string> parameters;
  std::vector<std::string> outputs;
  std::string config;
};

void add_sample_flags(CLI::App& command, SampleFlags& flags);

/// `kqd sample NAME`: writes two samples of known distributions, or lists them.
int run_sample(const SampleFlags& flags);

}  // namespace kqd::app
