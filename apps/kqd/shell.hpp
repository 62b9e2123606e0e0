#pragma once
#include <string>

namespace kqd::app {

/// A command line that a shell takes apart into the same arguments; the program is called kqd, wherever it lies.
[[nodiscard]] std::string shell_line(int argc, const char* const* argv);

}  // namespace kqd::app
