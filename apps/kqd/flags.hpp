#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// What was typed, before it means anything.
struct Flags {
  std::string x;
  std::string y;
  std::string method = "ekqd";
  std::string kernel = "gaussian";
  std::string bandwidth = "median";
  std::string directions = "gaussian";
  std::string reference = "gaussian";
  std::string num_directions = "64";
  std::string num_reference;
  std::string power = "1";
  std::string weighting = "uniform";
  std::string weights_column;
  std::string compat;
  std::string seed = "0";
  std::string threads = "0";
  bool yes_quadratic = false;
  bool json = false;
  bool quiet = false;
};

/// The flags of every command that compares two samples.
void add_comparison_flags(CLI::App& command, Flags& flags);

/// What the flags mean; throws Error{invalid_option} naming the flag, the value and what is expected.
[[nodiscard]] KqdOptions to_options(const Flags& flags);

/// The whole number that a flag holds, in [low, high]; throws Error{invalid_option} otherwise.
[[nodiscard]] std::uint64_t whole_number(const std::string& flag, const std::string& text, std::uint64_t low,
                                         std::uint64_t high);

}  // namespace kqd::app
