#pragma once
#include <cstddef>

#include "core/function_ref.hpp"

namespace kqd {

/// Calls run(0), ..., run(num_blocks - 1), each once, on this thread and up to num_threads - 1 others.
///
/// Threads are kept for later calls. Where the system refuses one (a limit of memory or of processes) fewer do the
/// work. Calls at the same time do not wait for each other; a call from inside a block uses only threads that are idle.
/// A forked process starts with no threads and gets its own. The first exception of a block ends the loop and is
/// rethrown.
void run_on_threads(std::size_t num_blocks, std::size_t num_threads, FunctionRef<void(std::size_t block)> run);

}  // namespace kqd
