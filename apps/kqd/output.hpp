#pragma once
#include <string>

namespace kqd::app {

/// Results, to stdout. Throws Error{unwritable_output} when they cannot get there: a full disk. Who closes the pipe has
/// read enough: nothing is said.
void print(const std::string& text);

/// Words for a person, to stderr.
void note(const std::string& text);

}  // namespace kqd::app
