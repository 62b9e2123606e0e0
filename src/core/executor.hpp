#pragma once
#include <atomic>
#include <cstddef>
#include <string_view>

#include "core/function_ref.hpp"
#include "kqd/core/run_control.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// Calls body(begin, end) once for every block [0, block_size), [block_size, 2 block_size), ... of [0, num_items).
///
/// The blocks follow from the arguments only, never from the number of threads, and their order is unspecified:
/// a body that writes only what belongs to its block gives the same bits for any thread count. Sums over blocks are
/// taken by the caller, in block order. An exception of a body is rethrown on the calling thread. Before each block the
/// stop flag of the calling thread's StopScope is checked.
void parallel_for_blocks(std::size_t num_items, std::size_t block_size, ThreadCount threads,
                         FunctionRef<void(std::size_t begin, std::size_t end)> body);

/// While it lives, work that this thread starts by parallel_for_blocks ends soon after the stop flag of `control` is
/// set, by Error{interrupted}. No control, or one without a flag, leaves the flag of the surrounding scope in force.
class StopScope {
 public:
  explicit StopScope(const RunControl* control);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const std::atomic<bool>* outer_;
};

/// While it exists, the work of this thread is reported to control->progress under the name `what`: the blocks done of
/// each parallel_for_blocks that it starts, one after the other, and signs of life (no total) at each stop_point(). For
/// work of several steps whose sizes are unknown beforehand. No control, or one without a callback, reports nothing.
class ProgressScope {
 public:
  ProgressScope(const RunControl* control, std::string_view what);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

  /// Called by the loops.
  void report(double done, double total) const;

 private:
  const RunControl* control_;
  std::string_view what_;
  const ProgressScope* outer_;
};

/// Throws Error{interrupted} when the StopScope this code runs in was asked to stop; works inside the blocks of
/// parallel_for_blocks too. For blocks that take more than a fraction of a second.
void stop_point();

/// The number of threads that `threads` means on this machine: at least 1.
[[nodiscard]] unsigned resolve(ThreadCount threads);

}  // namespace kqd
