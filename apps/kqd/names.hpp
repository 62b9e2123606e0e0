#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kqd::app {

/// "; did you mean X?", or "" when no known word is near.
[[nodiscard]] std::string suggestion_among(const std::string& word, const std::vector<std::string>& known);

/// "kqd test".
[[nodiscard]] std::string full_name(const CLI::App& command);

/// All commands of a program, in order, and their names.
[[nodiscard]] std::vector<const CLI::App*> all_commands(const CLI::App& program);
[[nodiscard]] std::vector<std::string> command_names(const CLI::App& program);

/// "--kernel", "--power", ...: the long names of all flags.
[[nodiscard]] std::vector<std::string> flag_names(const CLI::App& command);

}  // namespace kqd::app
