#pragma once
#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

namespace kqd::app {

/// The lines of a config file in TOML. Throws Error{unreadable_input} for a file that cannot be read or is too long.
[[nodiscard]] std::vector<CLI::ConfigItem> read_config(const std::string& path);

/// Gives the options of `command` that were not typed the values of the file. A table of a command wins over the lines
/// before all tables. Throws Error{invalid_option} for an unknown option, with a suggestion, and for a table that is
/// not a command of `program`. Returns the names of the options that it set.
std::set<std::string> apply_config(const std::string& path, const CLI::App& program, CLI::App& command);

}  // namespace kqd::app
