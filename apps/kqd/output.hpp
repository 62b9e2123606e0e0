#pragma once
#include <string>
#include <string_view>

#include "kqd/core/warning.hpp"

namespace kqd::app {

/// Results, to stdout. Throws Error{unwritable_output} when they cannot get there: a full disk. Who closes the pipe has
/// read enough: nothing is said.
void print(const std::string& text);

/// Words for a person, to stderr, without control characters. A message that cannot get there is lost, and nothing
/// else: results and exit codes stand.
void note(std::string_view text);

/// How the program writes options in warnings and notes.
[[nodiscard]] std::string option_name(std::string_view id, std::string_view value);

/// A warning or note in the words of the program.
[[nodiscard]] std::string sentence(const Warning& warning);

/// The same without the name of the program before it, and as it is.
void print_message(std::string_view text);

}  // namespace kqd::app
