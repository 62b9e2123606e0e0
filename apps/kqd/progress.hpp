#pragma once
#include <atomic>
#include <chrono>
#include <string_view>

#include "kqd/core/run_control.hpp"

namespace kqd::app {

/// Shows how far a run is on a terminal, once it has taken a second, and turns Ctrl-C into a clean end.
class ProgressLine {
 public:
  /// `shown`: false keeps quiet. Nothing is shown when stderr is no terminal.
  explicit ProgressLine(bool shown);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What the library takes: reports come here, and Ctrl-C sets its stop flag.
  [[nodiscard]] const RunControl& control() const { return control_; }

 private:
  void show(double fraction, std::string_view what);

  using Clock = std::chrono::steady_clock;
  RunControl control_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace kqd::app
