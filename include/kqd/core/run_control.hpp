#pragma once
#include <atomic>
#include <functional>
#include <string_view>

namespace kqd {

/// How a caller watches a long run and ends it. Every member may be left empty.
struct RunControl {
  /// Called with the part done, 0..1, and the name of the work; from the thread that called the library, never from
  /// another. What it throws ends the run.
  std::function<void(double fraction, std::string_view what)> progress = {};
  /// Called before work that will take long, with a sentence that says why and about how long; from the same thread.
  std::function<void(std::string_view sentence)> notice = {};
  /// Set it to true, from any thread or signal handler, and the run ends soon by Error{interrupted}.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace kqd
