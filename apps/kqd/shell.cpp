#include "shell.hpp"

#include <algorithm>
#include <string_view>

namespace kqd::app {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kMarks = "_@%+=:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

// A shell changes nothing within single quotes; a single quote itself has to be outside of them.
std::string quoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

std::string shell_line(int argc, const char* const* argv) {
  std::string line = "kqd";
  for (int i = 1; i < argc; ++i) line += " " + quoted(argv[i]);
  return line;
}

}  // namespace kqd::app
