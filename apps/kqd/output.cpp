#include "output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "kqd/core/error.hpp"
#include "kqd/io/printable.hpp"
#include "kqd/options/options.hpp"

namespace kqd::app {

void print(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return;
  throw Error(ErrorCode::unwritable_output,
              fmt::format("cannot write to standard output: {}", std::generic_category().message(errno)));
}

void print_message(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

void note(std::string_view text) {
  print_message(fmt::format("kqd: {}\n", printable(text)));
}

std::string sentence(const Warning& warning) {
  return render(warning, program_names);
}

bool is_one_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return false;
  std::error_code error;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(one, error), error);
  return first == std::filesystem::weakly_canonical(std::filesystem::absolute(other, error), error);
}

}  // namespace kqd::app
