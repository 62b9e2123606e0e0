#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "kqd/core/error.hpp"

namespace kqd::app {

/// Where flags were set, by their names without dashes: "kqd.toml:3".
using ConfigPlaces = std::map<std::string, std::string>;

/// Gives the flags of `command` that were not typed the values that the file sets. A table of a command wins over the
/// lines before all tables. Throws Error{invalid_option} for a key that is not a flag, with a suggestion, and for a
/// table that is not a command of `program`. Returns what it set.
ConfigPlaces apply_config(const std::string& path, const CLI::App& program, CLI::App& command);

/// The error with the place in front when it is about a value that a file set: sentences about a flag begin with it.
[[nodiscard]] Error told_with_place(const Error& error, const ConfigPlaces& places);

}  // namespace kqd::app
