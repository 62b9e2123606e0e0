#pragma once
#include <atomic>

namespace kqd::app {

/// From now on Ctrl-C, SIGTERM and SIGHUP end the program at once with a sentence, except within a StopRequest.
void catch_interrupts();

/// The exit code after a signal, as shells expect it: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
[[nodiscard]] int interrupted_exit_code();

/// While it lives, Ctrl-C is a request to stop, for work that has something to clean up. A second Ctrl-C does not wait.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// True once Ctrl-C was pressed.
  [[nodiscard]] static const std::atomic<bool>& flag();
};

}  // namespace kqd::app
