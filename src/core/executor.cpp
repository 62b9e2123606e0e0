#include "core/executor.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "core/fail.hpp"
#include "core/thread_pool.hpp"
#include "kqd/core/stoppable.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxThreads = 1024;

// The stop flag travels with the thread instead of through every signature: each block carries the flag of the thread
// that started it over to the thread that runs it.
thread_local const std::atomic<bool>* current_stop = nullptr;

// The progress callback of this thread; never handed to another thread.
thread_local const ProgressScope* current_progress = nullptr;

// Counts the blocks of one loop, for the scope of the thread that started it. Loops inside its blocks are parts of a
// block: the scope does not hear of them.
class LoopProgress {
 public:
  explicit LoopProgress(std::size_t num_blocks)
      : scope_(std::exchange(current_progress, nullptr)), num_blocks_(num_blocks) {
    if (scope_ != nullptr) scope_->report(0.0, static_cast<double>(num_blocks_));
  }
  ~LoopProgress() { current_progress = scope_; }
  LoopProgress(const LoopProgress&) = delete;
  LoopProgress& operator=(const LoopProgress&) = delete;

  void add_block() {
    if (scope_ == nullptr) return;
    const std::size_t done = ++num_done_;
    if (std::this_thread::get_id() == owner_) {
      scope_->report(static_cast<double>(done), static_cast<double>(num_blocks_));
    }
  }

 private:
  const ProgressScope* scope_;
  std::size_t num_blocks_;
  std::atomic<std::size_t> num_done_{0};
  std::thread::id owner_ = std::this_thread::get_id();
};

// Puts the flag of the starting thread in force on the thread that runs a block, whatever that thread did before.
class BorrowedStop {
 public:
  explicit BorrowedStop(const std::atomic<bool>* stop) : own_(std::exchange(current_stop, stop)) {}
  ~BorrowedStop() { current_stop = own_; }
  BorrowedStop(const BorrowedStop&) = delete;
  BorrowedStop& operator=(const BorrowedStop&) = delete;

 private:
  const std::atomic<bool>* own_;
};

}  // namespace

StopScope::StopScope(const RunControl* control) : outer_(current_stop) {
  if (control != nullptr && control->stop != nullptr) current_stop = control->stop;
}

StopScope::~StopScope() {
  current_stop = outer_;
}

ProgressScope::ProgressScope(const RunControl* control, std::string_view what)
    : control_(control != nullptr && control->progress ? control : nullptr), what_(what), outer_(current_progress) {
  current_progress = control_ != nullptr ? this : nullptr;
}

ProgressScope::~ProgressScope() {
  current_progress = outer_;
}

void ProgressScope::report(double done, double total) const {
  control_->progress({.done = done, .total = total, .what = what_});
}

void run_stoppable(const RunControl& control, const std::function<void()>& work) {
  const StopScope stoppable(&control);
  work();
}

void stop_point() {
  if (current_progress != nullptr) current_progress->report(0.0, 0.0);
  if (current_stop != nullptr && current_stop->load(std::memory_order_relaxed)) {
    fail(ErrorCode::interrupted, "stopped on request");
  }
}

unsigned resolve(ThreadCount threads) {
  if (threads.value > 0) return threads.value;
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for_blocks(std::size_t num_items, std::size_t block_size, ThreadCount threads,
                         FunctionRef<void(std::size_t, std::size_t)> body) {
  KQD_ASSERT(block_size > 0);
  const std::size_t num_blocks = (num_items + block_size - 1) / block_size;
  LoopProgress progress(num_blocks);
  const auto run_block = [&, stop = current_stop](std::size_t block) {
    const BorrowedStop borrowed(stop);
    stop_point();
    body(block * block_size, std::min(num_items, (block + 1) * block_size));
    progress.add_block();
  };
  run_on_threads(num_blocks, std::min(std::size_t{resolve(threads)}, kMaxThreads), run_block);
}

}  // namespace kqd
