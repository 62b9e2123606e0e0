#include "flags.hpp"

#include <fmt/format.h>

#include <map>

namespace kqd::app {
namespace {

// CLI11 has no place for the words of an option.
std::map<const CLI::Option*, std::vector<std::string>>& words_by_option() {
  static std::map<const CLI::Option*, std::vector<std::string>> words;
  return words;
}

std::string help_text(const OptionInfo& option) {
  const std::string text = render(option.help, program_names);
  if (option.choices == nullptr) return text;
  return fmt::format(fmt::runtime(text), fmt::join(option.choices(), ", "));
}

CLI::Option* add_flag(CLI::App& command, const OptionInfo& option) {
  const std::string text = help_text(option);
  if (option.bare.empty()) return command.add_flag("--" + flag_name(option), text);
  // A value needs the sign =, so that a bare flag never swallows a file.
  return command.add_flag(fmt::format("--{}{{{}}}", flag_name(option), option.bare), text)
      ->disable_flag_override(false);
}

CLI::Option* add_option(CLI::App& command, const OptionInfo& option, const Settings& defaults) {
  if (option.value.empty()) return add_flag(command, option);
  const std::string flag = "--" + flag_name(option);
  const std::string letter(option.value);
  if (option.type == OptionType::list) return add_repeated(command, flag, letter, help_text(option));
  const std::string text = help_text(option);
  return command.add_option(flag, text)->type_name(letter)->default_str(option.get(defaults));
}

}  // namespace

void add_options(CLI::App& command, Command which) {
  const Settings defaults = default_settings(which);
  for (const OptionInfo& option : options()) {
    if ((option.commands & which) == 0) continue;
    CLI::Option* const added = add_option(command, option, defaults)->group(std::string(option.section));
    if (option.choices != nullptr) offer_words(*added, option.choices());
  }
  if (which == kProfileCommand) return;  // which has no results to show
  CLI::Option* const json = command.get_option("--json");
  CLI::Option* const csv = command.get_option("--csv");
  json->excludes(csv);
  if (which == kEmbedCommand) return;  // which has no Markdown
  CLI::Option* const markdown = command.get_option("--markdown");
  json->excludes(markdown);
  csv->excludes(markdown);
}

CLI::Option* add_value(CLI::App& command, const std::string& flag, const std::string& letter, std::string& value,
                       const std::string& text) {
  return command.add_option(flag, value, text)->type_name(letter)->capture_default_str();
}

CLI::Option* add_repeated(CLI::App& command, const std::string& flag, const std::string& letter,
                          const std::string& text) {
  return command.add_option(flag, text)
      ->type_name(letter)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void offer_words(const CLI::Option& option, const std::vector<std::string>& words) {
  words_by_option()[&option] = words;
}

const std::vector<std::string>& value_words(const CLI::Option& option) {
  static const std::vector<std::string> kNone;
  const auto found = words_by_option().find(&option);
  return found == words_by_option().end() ? kNone : found->second;
}

bool takes_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool file_argument = option.get_positional() && value_words(option).empty();
  return file_argument || type == "FILE" || type == "X Y" || option.check_lname("reference") ||
         option.check_lname("coefficients");
}

}  // namespace kqd::app
