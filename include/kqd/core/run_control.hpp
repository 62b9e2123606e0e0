#pragma once
#include <atomic>
#include <functional>
#include <string_view>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// How far a piece of work is.
struct ProgressReport {
  double done = 0.0;
  double total = 0.0;          ///< 0: unknown
  std::string_view what = {};  ///< the name of the work
  bool counted = false;        ///< `what` is what is counted ("permutations"), so done per second means something

  [[nodiscard]] double fraction() const { return total > 0.0 ? done / total : 0.0; }
};

/// How a caller watches a long run and ends it. Every member may be left empty.
struct RunControl {
  /// Called now and then, always on the thread that called the library. An exception that it throws ends the run.
  std::function<void(const ProgressReport& at)> progress = {};
  /// Called before work that will take long, with a sentence that says why and about how long; from the same thread.
  std::function<void(std::string_view sentence)> notice = {};
  /// Set it to true, from any thread or signal handler, and the run ends soon by Error{interrupted}.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace kqd
