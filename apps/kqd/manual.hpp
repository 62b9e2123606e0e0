#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace kqd::app {

/// The manual page kqd(1) as roff (the man macros), made from the flags themselves.
[[nodiscard]] std::string manual_page(const CLI::App& program);

}  // namespace kqd::app
