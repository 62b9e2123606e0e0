#include "watch.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace kqd {
namespace {

// How far the work on another thread has come. What it reports waits here until the thread that asked looks.
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

// A thread that does one task after another. A new one for each call would start with cold memory: it made a call on
// 200 rows twice as long.
class Worker {
 public:
  Worker() {
    std::thread([this] { loop(); }).detach();
  }

  void start(const std::function<void()>& task) {
    task_.store(&task);
    task_.notify_all();
  }

  // True when the task is over and done with: nothing of it, a Python exception say, is left on the thread.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) {
    if (is_over_soon()) return true;
    std::unique_lock lock(mutex_);
    return over_.wait_for(lock, time, [this] { return is_over(); });
  }

  void wait() {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [this] { return is_over(); });
  }

 private:
  [[nodiscard]] bool is_over() const { return task_.load() == nullptr; }

  // Looks for as long as it takes to fall asleep and be woken: short tasks are over by then.
  [[nodiscard]] bool is_over_soon() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(300);
    while (!is_over()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void loop() {
    while (true) {
      task_.wait(nullptr);
      (*task_.load())();
      const std::lock_guard lock(mutex_);
      task_.store(nullptr);
      over_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable over_;
  std::atomic<const std::function<void()>*> task_ = nullptr;
};

// Workers that have nothing to do. They are never ended: at the end of the process there is no good moment for it.
class IdleWorkers {
 public:
  static IdleWorkers& instance() {
    static auto* const kInstance = new IdleWorkers;
    return *kInstance;
  }

  [[nodiscard]] Worker* take() {
    const std::lock_guard lock(mutex_);
    forget_those_of_a_parent();
    if (idle_.empty()) return new Worker;
    Worker* worker = idle_.back();
    idle_.pop_back();
    return worker;
  }

  void give_back(Worker* worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(worker);
  }

 private:
  // Threads do not survive a fork.
  void forget_those_of_a_parent() {
    if (process_ != getpid()) idle_.clear();
    process_ = getpid();
  }

  std::mutex mutex_;
  std::vector<Worker*> idle_;
  pid_t process_ = getpid();
};

// A worker for one call, taken and given back with the GIL held: it keeps calls apart, so no fork sees a locked mutex.
class BorrowedWorker {
 public:
  BorrowedWorker() : worker_(IdleWorkers::instance().take()) {}
  ~BorrowedWorker() { IdleWorkers::instance().give_back(worker_); }
  BorrowedWorker(const BorrowedWorker&) = delete;
  BorrowedWorker& operator=(const BorrowedWorker&) = delete;

  Worker* operator->() const { return worker_; }

 private:
  Worker* worker_;
};

}  // namespace

void while_watching(const std::function<void(const RunControl*)>& work, const std::optional<py::function>& callback) {
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::atomic<bool> stop{false};
  Progress progress;
  RunControl control{.stop = &stop};
  if (callback) {
    control.progress = [&](const ProgressReport& at) {
      if (at.counted) progress.put(at.fraction(), at.what);
    };
  }
  std::exception_ptr failure;
  const std::function<void()> task = [&] {
    try {
      work(&control);
    } catch (...) {
      failure = std::current_exception();
    }
  };
  const BorrowedWorker worker;
  worker->start(task);
  const auto done = [&] {
    const py::gil_scoped_release other_threads_may_run;
    return worker->wait_for(kLook);
  };
  const auto look = [&] {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (const auto report = progress.take()) (*callback)(report->first, report->second);
  };
  try {
    while (!done()) look();
    look();
  } catch (...) {
    stop = true;
    const py::gil_scoped_release other_threads_may_run;
    worker->wait();
    throw;
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kqd
