#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "output.hpp"
#include "terminal.hpp"

namespace kqd::app {
namespace {

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

ProgressLine::ProgressLine(bool shown) : shown_(shown && isatty(STDERR_FILENO) == 1) {
  control_.stop = &StopRequest::flag();
  if (shown_) control_.progress = [this](const ProgressReport& at) { show(at); };
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
  if (elapsed < 1.0 || (drawn_ && seconds_between(last_, now) < 0.1)) return;
  std::string text = line_text(at, seconds_between(step_start_, now), elapsed);
  text.resize(std::min(text.size(), terminal_width(STDERR_FILENO) - 1));  // a second line could not be erased
  print_message(fmt::format("\r{}\033[K", text));
  std::fflush(stderr);
  drawn_ = true;
  last_ = now;
}

}  // namespace kqd::app
