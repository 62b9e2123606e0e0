#include "core/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kqd {
namespace {

struct Failure {
  std::size_t block = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error;
};

// One call of run_on_threads. The mutex of the pool guards all members but next_block.
struct Loop {
  Loop(FunctionRef<void(std::size_t)> body, std::size_t blocks, std::size_t places)
      : run(body), num_blocks(blocks), open_places(places) {}

  FunctionRef<void(std::size_t)> run;
  std::size_t num_blocks;
  std::size_t open_places;  // threads that may still join
  std::atomic<std::size_t> next_block{0};
  std::size_t num_helpers = 0;  // threads that have joined and not left
  Failure failure;              // of the first block that failed
  std::condition_variable last_helper_left;

  [[nodiscard]] bool wants_help() const { return open_places > 0 && next_block < num_blocks; }
};

thread_local bool is_inside_a_block = false;

// Runs blocks until none is left; an exception takes the remaining ones away from all threads. Blocks are taken in
// order and are finished: so the first block that fails is the same for any number of threads.
Failure run_blocks(Loop& loop) {
  const bool was_inside = std::exchange(is_inside_a_block, true);
  Failure failure;
  std::size_t block = 0;
  try {
    while ((block = loop.next_block++) < loop.num_blocks) loop.run(block);
  } catch (...) {
    loop.next_block = loop.num_blocks;
    failure = {block, std::current_exception()};
  }
  is_inside_a_block = was_inside;
  return failure;
}

void keep_first(Loop& loop, const Failure& failure) {
  if (failure.block < loop.failure.block) loop.failure = failure;
}

class ThreadPool {
 public:
  void run(Loop& loop) {
    const std::size_t num_places = loop.open_places;
    {
      const std::scoped_lock lock(mutex_);
      loops_.push_back(&loop);
      if (!is_inside_a_block) start_threads();
    }
    for (std::size_t i = 0; i < num_places; ++i) loop_added_.notify_one();
    const Failure failure = run_blocks(loop);
    std::unique_lock lock(mutex_);
    std::erase(loops_, &loop);
    loop.last_helper_left.wait(lock, [&] { return loop.num_helpers == 0; });
    keep_first(loop, failure);
  }

 private:
  // As many idle threads as all loops have places, or as many as the system starts.
  void start_threads() {
    std::size_t wanted = 0;
    for (const Loop* loop : loops_) wanted += loop->open_places;
    try {
      for (; num_idle_ < wanted; ++num_idle_) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
      // The system refuses another thread, or there is no memory for it.
    }
  }

  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      Loop* loop = nullptr;
      loop_added_.wait(lock, [&] { return (loop = newest_that_wants_help()) != nullptr; });
      --num_idle_;
      --loop->open_places;
      ++loop->num_helpers;
      lock.unlock();
      const Failure failure = run_blocks(*loop);
      lock.lock();
      keep_first(*loop, failure);
      if (--loop->num_helpers == 0) loop->last_helper_left.notify_one();
      ++num_idle_;
    }
  }

  [[nodiscard]] Loop* newest_that_wants_help() const {
    const auto found =
        std::find_if(loops_.rbegin(), loops_.rend(), [](const Loop* loop) { return loop->wants_help(); });
    return found == loops_.rend() ? nullptr : *found;
  }

  std::mutex mutex_;
  std::condition_variable loop_added_;
  std::vector<Loop*> loops_;  // under way, oldest first
  std::size_t num_idle_ = 0;
};

// Never destroyed: its threads wait in it until the process ends.
std::atomic<ThreadPool*> pool{nullptr};

// A forked process has a copy of the pool without its threads, perhaps locked: it makes a pool of its own.
void forget_pool() {
  pool = nullptr;
}

ThreadPool& current_pool() {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
  ThreadPool* current = pool;
  if (current == nullptr) {
    auto* const made = new ThreadPool;  // NOLINT(cppcoreguidelines-owning-memory)
    if (pool.compare_exchange_strong(current, made)) return *made;
    delete made;  // NOLINT(cppcoreguidelines-owning-memory)
  }
  return *current;
}

}  // namespace

void run_on_threads(std::size_t num_blocks, std::size_t num_threads, FunctionRef<void(std::size_t)> run) {
  if (num_threads <= 1 || num_blocks <= 1) {
    for (std::size_t block = 0; block < num_blocks; ++block) run(block);
    return;
  }
  Loop loop(run, num_blocks, std::min(num_threads, num_blocks) - 1);
  current_pool().run(loop);
  if (loop.failure.error != nullptr) std::rethrow_exception(loop.failure.error);
}

}  // namespace kqd
