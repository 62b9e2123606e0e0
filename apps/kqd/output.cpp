#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "kqd/core/error.hpp"
#include "kqd/io/printable.hpp"

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

std::string option_name(std::string_view id, std::string_view value) {
  if (id == "header") return value == "absent" ? "--no-header" : "--header";
  std::string name = id == "num_permutations" ? "permutations" : std::string(id);
  std::ranges::replace(name, '_', '-');
  return value.empty() || value == "true" ? "--" + name : fmt::format("--{} {}", name, value);
}

std::string sentence(const Warning& warning) {
  return render(warning, option_name);
}

}  // namespace kqd::app
