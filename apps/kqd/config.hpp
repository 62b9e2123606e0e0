#pragma once
#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kqd::app {

/// One line `key = value` of a config file.
struct ConfigEntry {
  std::string command;              ///< of the table [command] it stands in; empty: for every command
  std::string key;                  ///< a flag without its dashes
  std::vector<std::string> values;  ///< one, or those of an array
  bool is_bool = false;             ///< `true` or `false`, without quotes
  std::size_t line = 0;             ///< from 1
};

/// The entries of a config file in the part of TOML that flags need: comments, tables `[command]`, bare or quoted keys,
/// strings in double or single quotes, numbers, true and false, and arrays of these on one line. `name` starts every
/// error: Error{unreadable_input} with file, line and what was expected. No byte is trusted.
[[nodiscard]] std::vector<ConfigEntry> parse_config(std::string_view text, std::string_view name);

/// Gives the flags of `command` that were not typed the values that the file sets. A table of a command wins over the
/// lines before all tables. Throws Error{invalid_option} for a key that is no flag, with a suggestion, and for a table
/// that is no command of `program`.
void apply_config(const std::string& path, const CLI::App& program, CLI::App& command);

}  // namespace kqd::app
