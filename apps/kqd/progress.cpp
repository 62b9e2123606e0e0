#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "output.hpp"

namespace kqd::app {
namespace {

std::atomic<bool> interrupted{false};

// The first Ctrl-C asks the library to stop; the second one ends the program at once.
void on_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

std::string time_left(double seconds) {
  if (seconds < 60.0) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 3600.0) return fmt::format("{:.0f} min left", seconds / 60.0);
  return fmt::format("{:.1f} h left", seconds / 3600.0);
}

}  // namespace

ProgressLine::ProgressLine(bool shown) : shown_(shown && isatty(STDERR_FILENO) == 1) {
  control_.stop = &interrupted;
  control_.progress = [this](double fraction, std::string_view what) { show(fraction, what); };
  if (shown) control_.notice = [](std::string_view sentence) { note(std::string(sentence)); };
  std::signal(SIGINT, on_interrupt);
}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(double fraction, std::string_view what) {
  const auto now = Clock::now();
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double since_last = std::chrono::duration<double>(now - last_).count();
  if (!shown_ || elapsed < 1.0 || (drawn_ && since_last < 0.1) || fraction <= 0.0) return;
  const double left = elapsed * (1.0 - fraction) / fraction;
  fmt::print(stderr, "\r{} {:3.0f} %, {}\033[K", what, 100.0 * fraction, time_left(left));
  std::fflush(stderr);
  drawn_ = true;
  last_ = now;
}

}  // namespace kqd::app
