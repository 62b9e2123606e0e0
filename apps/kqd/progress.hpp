#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "interrupt.hpp"
#include "kqd/core/run_control.hpp"

namespace kqd::app {

/// Shows how far a run is, once it has taken a second on a terminal, elsewhere by a line now and then once it has taken
/// half a minute (KQD_LOG_SECONDS), and turns Ctrl-C into a clean end.
class ProgressLine {
 public:
  /// `shown`: false prints nothing.
  explicit ProgressLine(bool shown);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// For the library: receives its reports, and Ctrl-C sets its stop flag.
  [[nodiscard]] const RunControl& control() const { return control_; }

 private:
  using Clock = std::chrono::steady_clock;

  void show(const ProgressReport& at);
  void show_on_terminal(const std::string& text);
  void follow_step(const ProgressReport& at, Clock::time_point now);
  void erase();

  StopRequest stop_request_;
  RunControl control_;
  bool on_terminal_;
  double first_line_;  // of a log, in seconds
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
  // Reports come in steps, each from 0 to its total; the time left is that of the step.
  std::string step_;
  double step_done_ = 0.0;
  Clock::time_point step_start_ = start_;
};

}  // namespace kqd::app
