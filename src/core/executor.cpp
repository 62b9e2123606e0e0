#include "core/executor.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/fail.hpp"
#include "core/fork_join.hpp"
#include "kqd/core/stoppable.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxThreads = 1024;

// The stop flag travels with the thread instead of through every signature: each block carries the flag of the thread
// that started it over to the thread that runs it.
thread_local const std::atomic<bool>* current_stop = nullptr;

// Who hears of the work of this thread; never handed to another thread.
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

namespace {

// So many threads at once, this one included, or as many as the system starts. Each takes memory from the heap, because
// the C library then reserves address space for it, which later threads use again.
std::size_t num_started(std::size_t wanted) {
  std::latch all_tried(1);
  std::atomic<std::size_t> num_ready = 1;
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < wanted) {
      threads.emplace_back([&] {
        void* volatile some_memory = std::malloc(64);  // NOLINT(cppcoreguidelines-no-malloc)
        std::free(some_memory);                        // NOLINT(cppcoreguidelines-no-malloc)
        ++num_ready;
        all_tried.wait();
      });
      while (num_ready < threads.size() + 1) std::this_thread::yield();
    }
  } catch (const std::exception&) {
    // No more threads, or no memory for them: what there are is the answer.
  }
  all_tried.count_down();
  for (std::thread& thread : threads) thread.join();
  return threads.size() + 1;
}

// How many of these threads a loop may have. TBB ends the process where it gets fewer than it asks for (a bound of
// memory or of processes), so they are tried before: once for each larger number.
std::size_t threads_that_start(std::size_t wanted) {
  static std::atomic<std::size_t> proven = 1;
  if (wanted <= proven) return wanted;
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  static std::size_t tried = 1;
  if (wanted > tried) {
    const std::size_t started = num_started(wanted + 1);  // one more than it gets: TBB needs memory of its own
    tried = wanted;
    proven = std::max<std::size_t>(proven, started - 1);
  }
  return std::min<std::size_t>(wanted, proven);
}

// A process forked off one that has used TBB has its state without its threads, perhaps with a lock that one of them
// held: such a process works on one thread. Results are the same for any number.
std::atomic<bool> tbb_is_in_use{false};
std::atomic<bool> tbb_was_in_use_at_fork{false};
void note_fork() {
  if (tbb_is_in_use) tbb_was_in_use_at_fork = true;
}
bool may_use_tbb() {
  static const int watched = pthread_atfork(nullptr, nullptr, note_fork);
  if (watched != 0 || tbb_was_in_use_at_fork) return false;
  tbb_is_in_use = true;
  return true;
}

// An arena for one loop, kept for later loops with the same number of threads: TBB does not give all memory of an arena
// back (21 kB each in libtbb 2021.8). Loops that run at the same time have arenas of their own, so none waits for
// another.
class BorrowedArena {
 public:
  explicit BorrowedArena(std::size_t num_threads) : num_threads_(num_threads) {
    Idle& idle = idle_arenas();
    {
      const std::scoped_lock lock(idle.mutex);
      auto& arenas = idle.by_num_threads[num_threads];
      if (!arenas.empty()) {
        arena_ = std::move(arenas.back());
        arenas.pop_back();
      }
    }
    if (arena_ == nullptr) arena_ = std::make_unique<tbb::task_arena>(static_cast<int>(num_threads));
  }
  ~BorrowedArena() {
    try {
      Idle& idle = idle_arenas();
      const std::scoped_lock lock(idle.mutex);
      idle.by_num_threads[num_threads_].push_back(std::move(arena_));
    } catch (const std::exception&) {
      // No memory to keep it: the next loop makes another.
    }
  }
  BorrowedArena(const BorrowedArena&) = delete;
  BorrowedArena& operator=(const BorrowedArena&) = delete;

  tbb::task_arena& operator*() { return *arena_; }

 private:
  struct Idle {
    std::mutex mutex;
    std::map<std::size_t, std::vector<std::unique_ptr<tbb::task_arena>>> by_num_threads;
  };
  // Never destroyed: loops may run until the process ends, and TBB may be gone before static objects are.
  static Idle& idle_arenas() {
    static auto* const idle = new Idle;  // NOLINT(cppcoreguidelines-owning-memory)
    return *idle;
  }

  std::size_t num_threads_;
  std::unique_ptr<tbb::task_arena> arena_;
};

}  // namespace

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
  const std::size_t num_threads =
      threads_that_start(std::min({std::size_t{resolve(threads)}, num_blocks, kMaxThreads}));
  if (num_threads <= 1 || !may_use_tbb()) {
    for (std::size_t block = 0; block < num_blocks; ++block) run_block(block);
    return;
  }
  // TBB keeps to the number of cores, and says so on stderr, unless it is told to go beyond.
  using tbb::global_control;
  std::optional<global_control> beyond_cores;
  if (num_threads > global_control::active_value(global_control::max_allowed_parallelism)) {
    beyond_cores.emplace(global_control::max_allowed_parallelism, num_threads);
  }
  ForkJoin loop;
  BorrowedArena arena(num_threads);
  (*arena).execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, num_blocks, 1),
        [&](const tbb::blocked_range<std::size_t>& blocks) {
          const ForkJoin::Block block_of_loop(loop);
          for (std::size_t block = blocks.begin(); block != blocks.end(); ++block) run_block(block);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace kqd
