#pragma once
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

}  // namespace kqd::app
