#pragma once

namespace kqd::app {

/// The whole program: what main() does, and the command `kqd` of the Python package. Returns the exit code.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace kqd::app
