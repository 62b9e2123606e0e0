#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// The argument of `kqd completions`: bash, zsh or fish.
void add_shell_argument(CLI::App& command, std::string& shell);

/// A script for the shell that completes commands, flags and their values, made from the flags themselves. Throws
/// Error{invalid_option} for a shell that is not known.
[[nodiscard]] std::string completions(const std::string& shell, const CLI::App& program);

}  // namespace kqd::app
