#pragma once
#include <string>
#include <string_view>

#include "kqd/core/warning.hpp"

namespace kqd::app {

/// Writes results to stdout. Throws Error{unwritable_output} when that fails, as on a full disk. EPIPE is ignored: the
/// reader has closed the pipe.
void print(const std::string& text);

/// Writes a message with the name of the program to stderr, without control characters. A failure is ignored: results
/// and exit codes do not depend on messages.
void note(std::string_view text);

/// A warning or note in the words of the program.
[[nodiscard]] std::string sentence(const Warning& warning);

/// The same without the name of the program, and unchanged.
void print_message(std::string_view text);

/// True when two paths are the same file, by whatever names, also when it does not exist yet.
[[nodiscard]] bool is_one_file(const std::string& one, const std::string& other);

}  // namespace kqd::app
