#pragma once
#include <cstddef>

#include "kqd/report/report.hpp"

namespace kqd::app {

/// Columns of the terminal behind a file descriptor; 0 when it is not a terminal.
[[nodiscard]] std::size_t terminal_width(int descriptor);

/// The style of standard output: plain text of any width when it is not a terminal; no colours when NO_COLOR is set
/// and not empty (no-color.org) or the terminal is dumb.
[[nodiscard]] TextStyle screen_style();

}  // namespace kqd::app
