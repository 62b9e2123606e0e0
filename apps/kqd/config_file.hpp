#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kqd::app {

/// One line `key = value` of a config file.
struct ConfigEntry {
  std::string key;                  ///< a flag without its dashes
  std::vector<std::string> values;  ///< one, or those of an array
  bool is_bool = false;             ///< `true` or `false`, without quotes
  std::size_t line = 0;             ///< from 1
};

/// What stands below one `[command]`.
struct ConfigTable {
  std::string command;   ///< empty: the lines before all tables, for every command
  std::size_t line = 0;  ///< of `[command]`
  std::vector<ConfigEntry> entries = {};
};

/// A config file in the part of TOML that flags need: comments, tables `[command]`, bare or quoted keys, strings in
/// double or single quotes, numbers (1_000 and 0x10 too), true and false, and arrays of these on one line. The first
/// table is that of the lines before all others. `name` starts every error: Error{unreadable_input} with file, line and
/// what was expected. No byte is trusted.
[[nodiscard]] std::vector<ConfigTable> parse_config(std::string_view text, std::string_view name);

}  // namespace kqd::app
