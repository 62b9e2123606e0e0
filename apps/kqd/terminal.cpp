#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace kqd::app {
namespace {

bool colours_welcome() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return !refused && kind != nullptr && std::string_view(kind) != "dumb";
}

}  // namespace

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t kUsual = 80;
  if (isatty(descriptor) != 1) return 0;
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

TextStyle screen_style() {
  const std::size_t width = terminal_width(STDOUT_FILENO);
  return {.colour = width > 0 && colours_welcome(), .width = width};
}

}  // namespace kqd::app
