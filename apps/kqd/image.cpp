#include "image.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace kqd::app {
namespace {

// Runs a program by its name, without a shell and without its messages; false when it is missing or fails.
template <std::size_t N>
bool succeeds(const std::array<const char*, N>& arguments) {
  std::array<char*, N + 1> argv{};
  for (std::size_t k = 0; k < N; ++k) argv[k] = const_cast<char*>(arguments[k]);  // as posix_spawn wants it
  posix_spawn_file_actions_t silent;
  posix_spawn_file_actions_init(&silent);
  posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &silent, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&silent);
  int status = 0;
  return error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<std::string> make_png(const std::string& svg_file) {
  if (!svg_file.ends_with(".svg")) return std::nullopt;
  const std::string image = svg_file.substr(0, svg_file.size() - 4) + ".png";
  const std::string partial = image + ".partial";
  const std::array<const char*, 6> command = {"rsvg-convert", "--zoom",        "2",
                                              "--output",     partial.c_str(), svg_file.c_str()};
  std::error_code error;
  const bool made = succeeds(command) && std::filesystem::file_size(partial, error) > 0 && !error;
  if (made) std::filesystem::rename(partial, image, error);
  if (made && !error) return image;
  std::filesystem::remove(partial, error);
  std::filesystem::remove(image, error);  // it would show an earlier figure
  return std::nullopt;
}

}  // namespace kqd::app
