#include "usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "names.hpp"

namespace kqd::app {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kLineLength = 80;
constexpr std::size_t kNarrowest = 48;  // below, a terminal folds lines by itself

std::string folded(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string result;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

// Where parsing stopped: in a command, or before any was found.
const CLI::App& failed_command(const CLI::App& program) {
  const auto parsed = program.get_subcommands();
  return parsed.empty() || !program.remaining().empty() ? program : *parsed.front();
}

std::string unknown_flag(const CLI::App& command, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  const bool before_command = command.get_parent() == nullptr;
  if (flag == "--group" && command.get_name() == "matrix") {
    return "unknown flag --group for kqd matrix, which takes a file for each sample";
  }
  return fmt::format("unknown flag {} for {}{}", flag, full_name(command),
                     before_command ? "; flags follow the command" : suggestion_among(flag, flag_names(command)));
}

std::string unknown_command(const CLI::App& program, const std::string& word) {
  const auto names = command_names(program);
  return fmt::format("unknown command \"{}\", expected one of {}{}", word, fmt::join(names, ", "),
                     suggestion_among(word, names));
}

// CLI11 opens its sentence on a wrong number of values with the name of the flag, with or without dashes.
std::string wrong_count(const CLI::App& command, const std::string& sentence) {
  const std::string name = sentence.substr(0, sentence.find_first_of(": "));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) option = command.get_option_no_throw("--" + name);
  if (option == nullptr) return sentence;
  return fmt::format("{} {}", option->get_name(),
                     option->get_items_expected_max() == 0 ? "takes no value" : "needs a value");
}

std::string sentence_for(const CLI::App& program, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> extra = command.remaining();
  const auto end_of_flags = std::ranges::find(extra, "--");
  const auto flag =
      std::find_if(extra.begin(), end_of_flags, [](const std::string& word) { return word.starts_with('-'); });
  if (flag != end_of_flags) return unknown_flag(command, *flag);
  const bool after_flags = end_of_flags != extra.end();
  if (after_flags) extra.erase(end_of_flags);
  if (&command == &program) {
    return extra.empty()
               ? fmt::format("a command is missing, expected one of {}", fmt::join(command_names(program), ", "))
               : unknown_command(program, extra.front());
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return wrong_count(command, error.what());
  if (!extra.empty()) {
    return fmt::format("\"{}\" is one argument too many for {}{}", extra.front(), full_name(command),
                       after_flags ? ", whose options come before --" : "");
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  return fmt::format("{} by {}", error.what(), full_name(command));
}

}  // namespace

HelpFormatter::HelpFormatter(std::size_t screen_width)
    : width_(screen_width == 0 ? kLineLength : std::clamp(screen_width, kNarrowest, kLineLength)) {
  column_width(std::min(kTextColumn, width_ / 2));
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

// CLI11 shows what a bare flag means: --early-stop{betting}.
std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string name = CLI::Formatter::make_option_name(option, is_positional);
  return name.substr(0, name.find('{'));
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const bool takes_value = option->get_type_size() != 0 && !option->get_positional();
  return takes_value ? " " + option->get_type_name() : "";
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (!option->get_default_str().empty()) text += fmt::format(" (default: {})", option->get_default_str());
  return folded(text, width_ - get_column_width());
}

std::string usage_error(const CLI::App& program, const CLI::ParseError& error) {
  return sentence_for(program, failed_command(program), error);
}

std::string usage_help(const CLI::App& program) {
  return fmt::format("`{} --help` explains the arguments\n", full_name(failed_command(program)));
}

}  // namespace kqd::app
