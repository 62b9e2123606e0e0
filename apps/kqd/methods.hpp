#pragma once
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/parameters.hpp"

namespace kqd::app {

/// Options of `kqd methods`.
struct MethodsFlags {
  std::string id;
  bool json = false;
  bool csv = false;
  bool markdown = false;
};

void add_methods_flags(CLI::App& command, MethodsFlags& flags);

/// `kqd methods [ID]`: the table of methods, or one of them explained.
int run_methods(const MethodsFlags& flags);

/// A line for each parameter: name, meaning, default and range.
void print_parameters(std::span<const ParameterInfo> parameters, std::string_view indent);

}  // namespace kqd::app
