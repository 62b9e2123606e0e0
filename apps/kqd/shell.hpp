#pragma once
#include <string>

namespace kqd::app {

/// A command line that a shell splits into the same arguments; the program is called kqd, whatever its path.
[[nodiscard]] std::string shell_line(int argc, const char* const* argv);

}  // namespace kqd::app
