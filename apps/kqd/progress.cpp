#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "output.hpp"
#include "terminal.hpp"

namespace kqd::app {
namespace {

constexpr double kFirstDrawn = 1.0;  // seconds
constexpr double kRedrawn = 0.1;
constexpr double kFirstLine = 30.0;
constexpr double kShareOfLine = 0.1;  // of the time so far, between two lines of a log

// The time before the first line of a log: KQD_LOG_SECONDS, or half a minute.
double seconds_of_first_line() {
  const char* const given = std::getenv("KQD_LOG_SECONDS");
  if (given == nullptr) return kFirstLine;
  char* end = nullptr;
  const double seconds = std::strtod(given, &end);
  return end != given && *end == '\0' && seconds >= 0.0 ? seconds : kFirstLine;
}

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string time_left(double seconds) {
  if (seconds < 60.0) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 3600.0) return fmt::format("{:.0f} min left", seconds / 60.0);
  return fmt::format("{:.1f} h left", seconds / 3600.0);
}

std::string rate_text(double per_second) {
  return per_second < 10.0 ? fmt::format("{:.1f}/s", per_second) : fmt::format("{:.0f}/s", per_second);
}

// The line for a step that has run for `in_step` seconds of `elapsed`. A step too short to be judged, or of unknown
// length, shows the time it took so far.
std::string line_text(const ProgressReport& at, double in_step, double elapsed) {
  constexpr double kJudged = 0.5;
  if (at.total <= 0.0 || at.done <= 0.0 || in_step < kJudged) return fmt::format("{}, {:.0f} s", at.what, elapsed);
  const double fraction = at.fraction();
  const std::string left = time_left(in_step * (1.0 - fraction) / fraction);
  if (at.counted) {
    return fmt::format("{} {:3.0f}%, {}, {}", at.what, 100.0 * fraction, rate_text(at.done / in_step), left);
  }
  return fmt::format("{} {:3.0f}% of this step, {}", at.what, 100.0 * fraction, left);
}

}  // namespace

ProgressLine::ProgressLine(bool shown)
    : on_terminal_(isatty(STDERR_FILENO) == 1), first_line_(seconds_of_first_line()) {
  control_.stop = &StopRequest::flag();
  if (shown) control_.progress = [this](const ProgressReport& at) { show(at); };
  if (shown) {
    control_.notice = [this](std::string_view sentence) {
      erase();
      note(sentence);
    };
  }
}

ProgressLine::~ProgressLine() {
  erase();
}

void ProgressLine::erase() {
  if (drawn_) print_message("\r\033[K");
  drawn_ = false;
}

void ProgressLine::follow_step(const ProgressReport& at, Clock::time_point now) {
  if (at.what != step_ || at.done < step_done_) {
    step_ = at.what;
    step_start_ = now;
  }
  step_done_ = at.done;
}

void ProgressLine::show(const ProgressReport& at) {
  const auto now = Clock::now();
  follow_step(at, now);
  const double elapsed = seconds_between(start_, now);
  const double since_last = seconds_between(last_, now);
  // A log gets fewer lines the longer a run takes.
  const double quiet = on_terminal_ ? (drawn_ ? kRedrawn : kFirstDrawn) : std::max(first_line_, kShareOfLine * elapsed);
  if (since_last < quiet) return;
  last_ = now;
  const std::string text = line_text(at, seconds_between(step_start_, now), elapsed);
  if (on_terminal_) return show_on_terminal(text);
  note(text);
}

void ProgressLine::show_on_terminal(const std::string& text) {
  // A second line could not be erased.
  const std::size_t width = terminal_width(STDERR_FILENO) - 1;
  print_message(fmt::format("\r{}\033[K", text.substr(0, width)));
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace kqd::app
