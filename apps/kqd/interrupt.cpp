#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace kqd::app {
namespace {

std::atomic<bool> requested{false};
std::atomic<int> num_waiting{0};
std::atomic<int> received{SIGINT};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Calls nothing but what a signal handler may call.
void on_interrupt(int signal) {
  received = signal;
  if (num_waiting > 0) {
    requested = true;
    std::signal(signal, SIG_DFL);
    return;
  }
  constexpr std::string_view kSentence = "kqd: stopped on request\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kSentence.data(), kSentence.size());
  _exit(interrupted_exit_code());
}

}  // namespace

int interrupted_exit_code() {
  return 128 + received;
}

void catch_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(signal, on_interrupt);
    if (before == SIG_IGN) std::signal(signal, SIG_IGN);  // out of reach of Ctrl-C, or of a terminal that closes
  }
}

StopRequest::StopRequest() {
  ++num_waiting;
}

StopRequest::~StopRequest() {
  --num_waiting;
}

const std::atomic<bool>& StopRequest::flag() {
  return requested;
}

}  // namespace kqd::app
