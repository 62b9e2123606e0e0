#include "manual.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "kqd/version.hpp"
#include "names.hpp"

namespace kqd::app {
namespace {

// Escapes text for roff, where a backslash and a leading dot or quote are commands and a hyphen becomes a dash.
std::string roff(std::string_view text) {
  std::string safe;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\') {
      safe += "\\e";
    } else if (c == '-') {
      safe += "\\-";
    } else {
      safe += c;
    }
    line_start = c == '\n';
  }
  return safe;
}

// "--kernel KERNEL", "-n, --rows N".
std::string heading_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "" : ", ") + std::string("-") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "" : ", ") + std::string("--") + name;
  std::string text = fmt::format("\\fB{}\\fR", roff(option.get_positional() ? option.get_name(true) : names));
  if (!option.get_positional() && option.get_items_expected_max() > 0) {
    text += fmt::format(" \\fI{}\\fR", roff(option.get_type_name()));
  }
  return text;
}

std::string entry_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
  return fmt::format(".TP\n{}\n{}\n", heading_of(option), roff(text));
}

// The footer of a command is a line "Examples:" and a line per example.
std::string examples_of(const CLI::App& command) {
  std::istringstream lines(command.get_footer());
  std::string line;
  std::getline(lines, line);
  std::string text = ".PP\nExamples:\n.PP\n.nf\n.RS 4\n";
  while (std::getline(lines, line)) text += roff(line.substr(line.find_first_not_of(' '))) + "\n";
  return text + ".RE\n.fi\n";
}

std::string section_of(const CLI::App& command) {
  std::string arguments;
  std::string flags;
  std::string usage;
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? arguments : flags) += entry_of(*option);
    if (!option->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR", roff(option->get_name(true)));
    usage += option->get_required() ? " " + name : fmt::format(" [{}]", name);
    if (option->get_items_expected_max() > 1) usage += " ...";
  }
  return fmt::format(".SS kqd {}\n{}\n.PP\n\\fBkqd {}\\fR{} [\\fIflags\\fR]\n{}{}{}", command.get_name(),
                     roff(command.get_description()), command.get_name(), usage, arguments, flags,
                     examples_of(command));
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kExitCodes = {{
    {"0", "done"},
    {"1", "a difference was found; only with --exit-code"},
    {"2", "wrong arguments, bad input, or output that cannot be written"},
    {"3", "internal error (please report it)"},
    {"4", "more memory or time than allowed"},
    {"130", "stopped by Ctrl-C"},
    {"143", "stopped by SIGTERM"},
    {"129", "stopped by a terminal that was closed"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEnvironment = {{
    {"KQD_DUCKDB", "the path of the library libduckdb.so, which reads Parquet, JSON and SQL"},
    {"KQD_LOG_SECONDS", "seconds until the first line on progress where stderr is not a terminal; 30 by default"},
    {"KQD_SIMD", "the instruction set to use: scalar, sse4, avx2 or avx3; the best one by default"},
    {"NO_COLOR", "when set and not empty, output has no colours on a terminal either"},
}};

template <class List>
std::string entries(const List& list) {
  std::string text;
  for (const auto& [name, meaning] : list) text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(name), roff(meaning));
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& program) {
  std::string text = fmt::format(
      ".TH KQD 1 \"\" \"kqd {}\" \"User Commands\"\n"
      ".SH NAME\nkqd \\- compare samples by kernel quantile embeddings\n"
      ".SH SYNOPSIS\n\\fBkqd\\fR \\fIcommand\\fR [\\fIarguments\\fR] [\\fIflags\\fR]\n"
      ".SH DESCRIPTION\n{}\n.PP\n"
      "Results go to standard output, messages and progress to standard error. The same seed gives the same numbers "
      "for "
      "any "
      "number of threads.\n"
      ".SH COMMANDS\n",
      roff(kVersion), roff(program.get_description()));
  for (const CLI::App* command : all_commands(program)) {
    text += section_of(*command);
  }
  return text + ".SH EXIT STATUS\n" + entries(kExitCodes) + ".SH ENVIRONMENT\n" + entries(kEnvironment);
}

}  // namespace kqd::app
