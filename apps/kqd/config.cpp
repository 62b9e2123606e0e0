#include "config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "config_file.hpp"
#include "kqd/core/error.hpp"
#include "names.hpp"

namespace kqd::app {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::unreadable_input, fmt::format("{}: is a directory, expected a file", path));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorCode::unreadable_input,
                fmt::format("{}: cannot read the config file: {}", path, std::generic_category().message(errno)));
  }
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    throw Error(ErrorCode::unreadable_input, fmt::format("{}: a config file of more than 1 MiB is refused", path));
  }
  return text;
}

const CLI::Option* flag_of(const CLI::App& command, const std::string& key) {
  const CLI::Option* const option = command.get_option_no_throw("--" + key);
  const bool settable = option != nullptr && !option->get_positional() && key != "config" && key != "help";
  return settable ? option : nullptr;
}

[[noreturn]] void refuse_key(const std::string& place, const ConfigEntry& entry, const std::string& owner,
                             std::vector<std::string> known) {
  for (std::string& flag : known) flag.erase(0, flag.find_first_not_of('-'));
  std::erase_if(known, [](const std::string& key) { return key == "config" || key == "help"; });
  throw Error(ErrorCode::invalid_option,
              fmt::format("{}: {} is no flag of {}{}", place, entry.key, owner, suggestion_among(entry.key, known)));
}

// Every line is looked at, also those for other commands: what is misspelt is told whichever command runs.
void check(const ConfigEntry& entry, const std::string& place, const CLI::App& program) {
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  if (!entry.command.empty()) {
    const auto found = std::ranges::find(commands, entry.command, &CLI::App::get_name);
    if (found == commands.end()) {
      const auto names = command_names(program);
      throw Error(ErrorCode::invalid_option,
                  fmt::format("{}: [{}] is no command, expected one of {}{}", place, entry.command,
                              fmt::join(names, ", "), suggestion_among(entry.command, names)));
    }
    if (flag_of(**found, entry.key) == nullptr) refuse_key(place, entry, full_name(**found), flag_names(**found));
    return;
  }
  const auto has_it = [&](const CLI::App* command) { return flag_of(*command, entry.key) != nullptr; };
  if (std::ranges::any_of(commands, has_it)) return;
  std::vector<std::string> known;
  for (const CLI::App* command : commands) std::ranges::copy(flag_names(*command), std::back_inserter(known));
  refuse_key(place, entry, "any command", known);
}

// Neither it nor what does not go with it was typed.
bool is_open(const CLI::Option& option) {
  return option.count() == 0 &&
         std::ranges::all_of(option.get_excludes(), [](const CLI::Option* other) { return other->count() == 0; });
}

void set(CLI::Option& option, const ConfigEntry& entry, const std::string& place) {
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag && entry.is_bool) {
    throw Error(ErrorCode::invalid_option, fmt::format("{}: {} = {}: expected a value of {}", place, entry.key,
                                                       entry.values.front(), option.get_name()));
  }
  if (is_flag && entry.is_bool && entry.values.front() == "false") return;
  try {
    for (const std::string& value : entry.values) {
      option.add_result(is_flag ? option.get_flag_value(entry.key, entry.is_bool ? "" : value) : value);
    }
    option.run_callback();
  } catch (const CLI::Error&) {
    throw Error(ErrorCode::invalid_option,
                fmt::format("{}: {} = {}: expected {}", place, entry.key, fmt::join(entry.values, ", "),
                            is_flag ? "true or false" : "a value"));
  }
}

}  // namespace

void apply_config(const std::string& path, const CLI::App& program, CLI::App& command) {
  const std::vector<ConfigEntry> entries = parse_config(read_file(path), path);
  const auto place_of = [&](const ConfigEntry& entry) { return fmt::format("{}:{}", path, entry.line); };
  for (const ConfigEntry& entry : entries) check(entry, place_of(entry), program);
  for (const bool own_table : {true, false}) {
    for (const ConfigEntry& entry : entries) {
      if (entry.command != (own_table ? command.get_name() : "")) continue;
      CLI::Option* const option = command.get_option_no_throw("--" + entry.key);
      if (option != nullptr && is_open(*option)) set(*option, entry, place_of(entry));
    }
  }
}

}  // namespace kqd::app
