#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"

namespace kqd::app {

/// Adds the options of the library's table that a command has.
void add_options(CLI::App& command, Command which);

/// An option with a value, for commands whose options are not in the table; `letter` stands for the value in the help
/// text, and the default is what the variable holds.
CLI::Option* add_value(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text);
/// The option --set of a method or problem; may be repeated.
CLI::Option* add_repeated(CLI::App& command, const std::string& flag, const std::string& letter,
                          const std::string& text);

/// Words that an option or argument takes as its value, for completions.
void offer_words(const CLI::Option& option, const std::vector<std::string>& words);
[[nodiscard]] const std::vector<std::string>& value_words(const CLI::Option& option);
/// True when the value is the name of a file, or may be one.
[[nodiscard]] bool takes_file(const CLI::Option& option);

}  // namespace kqd::app
