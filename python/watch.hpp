#pragma once
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "kqd/core/run_control.hpp"

namespace kqd {

/// How far the work on another thread has come. What it reports waits here until the thread that asked looks.
class Progress {
 public:
  void put(double fraction, std::string_view what) {
    const std::lock_guard lock(mutex_);
    latest_.emplace(fraction, what);
  }

  [[nodiscard]] std::optional<std::pair<double, std::string>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<std::pair<double, std::string>> latest_;
};

/// A thread that is joined without the GIL, which its last steps may need: it may have to drop a Python exception.
class WatchedThread {
 public:
  explicit WatchedThread(std::thread thread) : thread_(std::move(thread)) {}
  ~WatchedThread() { join(); }
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;

  void join() {
    const pybind11::gil_scoped_release other_threads_may_run;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

/// The result of work(control), computed without the GIL.
///
/// Python runs signal handlers on the main thread alone, and only when it is asked to. So another thread computes, and
/// the caller's thread waits: it looks for signals and passes progress on, a few times a second, whatever the library
/// is at. An exception out of either stops the work first.
template <class Work>
auto while_watching(const Work& work, const std::optional<pybind11::function>& callback = std::nullopt) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::atomic<bool> stop{false};
  Progress progress;
  RunControl control{.stop = &stop};
  if (callback) control.progress = [&](double fraction, std::string_view what) { progress.put(fraction, what); };
  std::packaged_task task(std::function([&] { return work(&control); }));
  auto result = task.get_future();
  WatchedThread thread(std::thread(std::move(task)));
  const auto done = [&] {
    const pybind11::gil_scoped_release other_threads_may_run;
    return result.wait_for(kLook) == std::future_status::ready;
  };
  const auto look = [&] {
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
    if (const auto report = progress.take()) (*callback)(report->first, report->second);
  };
  try {
    while (!done()) look();
    look();
  } catch (...) {
    stop = true;
    thread.join();
    throw;
  }
  thread.join();
  return result.get();
}

}  // namespace kqd
