#include "picture.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace kqd::app {
namespace {

// Runs a program by its name, without a shell; false when it is not there or fails.
template <std::size_t N>
bool succeeds(const std::array<const char*, N>& arguments) {
  std::array<char*, N + 1> argv{};
  for (std::size_t k = 0; k < N; ++k) argv[k] = const_cast<char*>(arguments[k]);  // as posix_spawn wants it
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<std::string> make_png(const std::string& svg_file) {
  if (!svg_file.ends_with(".svg")) return std::nullopt;
  const std::string picture = svg_file.substr(0, svg_file.size() - 4) + ".png";
  const std::array<const char*, 6> command = {"rsvg-convert", "--zoom",        "2",
                                              "--output",     picture.c_str(), svg_file.c_str()};
  return succeeds(command) ? std::optional(picture) : std::nullopt;
}

}  // namespace kqd::app
