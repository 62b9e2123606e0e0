#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// Gives the flags of `command` that were not typed the values that the file sets. A table of a command wins over the
/// lines before all tables. Throws Error{invalid_option} for a key that is no flag, with a suggestion, and for a table
/// that is no command of `program`.
void apply_config(const std::string& path, const CLI::App& program, CLI::App& command);

}  // namespace kqd::app
