#include "completions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "flags.hpp"
#include "kqd/core/error.hpp"
#include "kqd/io/printable.hpp"
#include "names.hpp"

namespace kqd::app {
namespace {

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// "--kernel", "-n", ...: every way to write a flag.
std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

std::vector<std::string> all_spellings(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) std::ranges::copy(spellings(*option), std::back_inserter(names));
  }
  return names;
}

// Words for the first argument of a command that is not a flag; empty: a file.
std::vector<std::string> argument_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) return value_words(*option);
  }
  return {};
}

// ---- bash ----

// COMPREPLY stays empty for a file or a number: readline then completes files.
std::string bash_values(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || !takes_value(*option)) continue;
    text += fmt::format("        {}) words=\"{}\" ;;\n", fmt::join(spellings(*option), "|"),
                        fmt::join(value_words(*option), " "));
  }
  return text;
}

std::string bash_script(const CLI::App& program) {
  std::string text = fmt::format(
      "# Completions of kqd for bash, made by `kqd completions bash`.\n"
      "_kqd() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words flags\n"
      "  # --flag=value arrives in three words.\n"
      "  if [[ $cur == \"=\" ]]; then\n"
      "    cur=\n"
      "  elif [[ $prev == \"=\" ]]; then\n"
      "    prev=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  fi\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"{} {}\" -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(command_names(program), " "), fmt::join(all_spellings(program), " "));
  for (const CLI::App* command : all_commands(program)) {
    const std::string values = bash_values(*command);
    const std::string argument = fmt::format("words=\"{}\" flags=\"{}\"", fmt::join(argument_words(*command), " "),
                                             fmt::join(all_spellings(*command), " "));
    text += fmt::format("    {})\n", command->get_name());
    text += values.empty() ? fmt::format("      {}\n", argument)
                           : fmt::format("      case $prev in\n{}        *) {} ;;\n      esac\n", values, argument);
    text += "      ;;\n";
  }
  return text +
         "    *) return ;;\n"
         "  esac\n"
         "  [[ $cur == -* && -n $flags ]] && words=$flags\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "  # More of the word follows a colon.\n"
         "  if [[ ${COMPREPLY[*]-} == *: ]]; then compopt -o nospace 2>/dev/null || true; fi\n"
         "}\n"
         "complete -o bashdefault -o default -F _kqd kqd\n";
}

// ---- zsh ----

// For a description in brackets between single quotes.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') safe += '\\';
    safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return safe;
}

// ":message:action" for a value.
std::string zsh_action(const CLI::Option& option) {
  const auto& words = value_words(option);
  const std::string listed =
      words.empty() ? "" : fmt::format("({})", zsh_text(fmt::format("{}", fmt::join(words, " "))));
  const std::string message = zsh_text(option.get_positional() ? option.get_name(true) : option.get_type_name());
  if (!takes_file(option)) return fmt::format(":{}:{}", message, listed.empty() ? "( )" : listed);
  return fmt::format(":{}:_files", message);
}

std::string zsh_arguments(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      const bool many = option->get_items_expected_max() > 1;
      text += fmt::format("        '{}{}' \\\n", many ? "*" : "", zsh_action(*option));
      continue;
    }
    for (const std::string& name : spellings(*option)) {
      const bool has_value = takes_value(*option);
      text += fmt::format("        '{}{}[{}]{}' \\\n", name, has_value && name.starts_with("--") ? "=" : "",
                          zsh_text(option->get_description()), has_value ? zsh_action(*option) : "");
    }
  }
  return text;
}

std::string zsh_script(const CLI::App& program) {
  std::string text =
      "#compdef kqd\n"
      "# Completions of kqd for zsh, made by `kqd completions zsh`.\n"
      "_kqd() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CLI::App* command : all_commands(program)) {
    text += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe -t commands 'command' commands\n"
      "    _arguments '--help[show help]' '--version[show version]'\n"
      "    return\n"
      "  fi\n"
      "  local command=${words[2]}\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CLI::App* command : all_commands(program)) {
    text += fmt::format("    {})\n      _arguments \\\n{}        && return\n      ;;\n", command->get_name(),
                        zsh_arguments(*command));
  }
  return text +
         "  esac\n"
         "}\n"
         "_kqd \"$@\"\n";
}

// ---- fish ----

std::string fish_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

std::string fish_flag(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_lnames()) text += " -l " + name;
  for (const std::string& name : option.get_snames()) text += " -s " + name;
  if (!takes_value(option)) return text;
  const auto& words = value_words(option);
  if (!words.empty()) text += fmt::format(" -a '{}'", fish_text(fmt::format("{}", fmt::join(words, " "))));
  return text + (takes_file(option) ? " -r -F" : " -x");
}

std::string fish_script(const CLI::App& program) {
  std::string text = "# Completions of kqd for fish, made by `kqd completions fish`.\n";
  for (const CLI::App* command : all_commands(program)) {
    text += fmt::format("complete -c kqd -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                        fish_text(command->get_description()));
  }
  for (const CLI::App* command : all_commands(program)) {
    const std::string within = fmt::format("complete -c kqd -n '__fish_seen_subcommand_from {}'", command->get_name());
    const auto words = argument_words(*command);
    if (!words.empty()) text += fmt::format("{} -f -a '{}'\n", within, fmt::join(words, " "));
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) continue;
      text += fmt::format("{}{} -d '{}'\n", within, fish_flag(*option), fish_text(option->get_description()));
    }
  }
  return text;
}

const std::vector<std::string>& shells() {
  static const std::vector<std::string> kShells = {"bash", "zsh", "fish"};
  return kShells;
}

}  // namespace

void add_shell_argument(CLI::App& command, std::string& shell) {
  offer_words(*command.add_option("SHELL", shell, "bash, zsh or fish")->required(), shells());
}

std::string completions(const std::string& shell, const CLI::App& program) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw Error(ErrorCode::invalid_option, fmt::format("shell \"{}\" is unknown, expected one of {}{}", printable(shell),
                                                     fmt::join(shells(), ", "), suggestion_among(shell, shells())));
}

}  // namespace kqd::app
