#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// Options of `kqd plan`.
struct PlanFlags {
  std::string pilot;
  std::string effect = "0.1";
  std::string power = "0.9";
  std::string alpha = "0.05";
  std::string columns = "1";
  std::string runs = "100";
  std::string most_rows = "100000";
  std::string seed = "0";
  std::string threads = "0";
  std::string figure;
  bool json = false;
};

void add_plan_flags(CLI::App& command, PlanFlags& flags);

/// `kqd plan`: how many rows a test and a verdict of equivalence need.
int run_plan(const PlanFlags& flags);

}  // namespace kqd::app
