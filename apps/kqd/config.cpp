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
              fmt::format("{}: {} is not a flag of {}{}", place, entry.key, owner, suggestion_among(entry.key, known)));
}

// The command of a table.
const CLI::App& command_of(const ConfigTable& table, const std::string& place, const CLI::App& program) {
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto found = std::ranges::find(commands, table.command, &CLI::App::get_name);
  if (found != commands.end()) return **found;
  const auto names = command_names(program);
  throw Error(ErrorCode::invalid_option,
              fmt::format("{}: [{}] is not a command, expected one of {}{}", place, table.command,
                          fmt::join(names, ", "), suggestion_among(table.command, names)));
}

void check_for_any(const ConfigEntry& entry, const std::string& place, const CLI::App& program) {
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto has_it = [&](const CLI::App* command) { return flag_of(*command, entry.key) != nullptr; };
  if (std::ranges::any_of(commands, has_it)) return;
  std::vector<std::string> known;
  for (const CLI::App* command : commands) std::ranges::copy(flag_names(*command), std::back_inserter(known));
  refuse_key(place, entry, "any command", known);
}

std::string place_of(const std::string& path, std::size_t line) {
  return fmt::format("{}:{}", path, line);
}

// Every line is looked at, also those for other commands: what is misspelt is told whichever command runs.
void check(const ConfigTable& table, const std::string& path, const CLI::App& program) {
  if (table.command.empty()) {
    for (const ConfigEntry& entry : table.entries) check_for_any(entry, place_of(path, entry.line), program);
    return;
  }
  const CLI::App& command = command_of(table, place_of(path, table.line), program);
  for (const ConfigEntry& entry : table.entries) {
    if (flag_of(command, entry.key) != nullptr) continue;
    refuse_key(place_of(path, entry.line), entry, full_name(command), flag_names(command));
  }
}

// Neither it nor what does not go with it was typed or is in a table that wins. Two lines of one table that do not go
// together are an error.
bool is_open(const CLI::Option& option, const ConfigPlaces& places) {
  if (option.count() > 0) return false;
  for (const CLI::Option* other : option.get_excludes()) {
    if (other->count() == 0) continue;
    const auto place = places.find(other->get_lnames().front());
    if (place == places.end()) return false;
    throw Error(ErrorCode::invalid_option, fmt::format("{}: {} does not go with {}, expected one of them",
                                                       place->second, place->first, option.get_lnames().front()));
  }
  return true;
}

void set(CLI::Option& option, const ConfigEntry& entry, const std::string& place) {
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag && entry.is_bool) {
    throw Error(ErrorCode::invalid_option, fmt::format("{}: {} = {}: expected a value of {}", place, entry.key,
                                                       entry.values.front(), option.get_name()));
  }
  if (is_flag && entry.is_bool && entry.values.front() == "false") return;
  const bool takes_several =
      option.get_multi_option_policy() != CLI::MultiOptionPolicy::TakeLast || option.get_expected_max() > 1;
  if (entry.values.size() != 1 && !takes_several) {
    throw Error(ErrorCode::invalid_option, fmt::format("{}: {} = [{}]: expected one value of {}", place, entry.key,
                                                       fmt::join(entry.values, ", "), option.get_name()));
  }
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

ConfigPlaces apply_config(const std::string& path, const CLI::App& program, CLI::App& command) {
  const std::vector<ConfigTable> tables = parse_config(read_file(path), path);
  for (const ConfigTable& table : tables) check(table, path, program);
  ConfigPlaces places;
  for (const bool own_table : {true, false}) {
    for (const ConfigTable& table : tables) {
      if (table.command != (own_table ? command.get_name() : "")) continue;
      ConfigPlaces of_table;
      for (const ConfigEntry& entry : table.entries) {
        CLI::Option* const option = command.get_option_no_throw("--" + entry.key);
        if (option == nullptr || !is_open(*option, of_table)) continue;
        of_table[entry.key] = place_of(path, entry.line);
        set(*option, entry, of_table[entry.key]);
      }
      places.insert(of_table.begin(), of_table.end());
    }
  }
  return places;
}

Error told_with_place(const Error& error, const ConfigPlaces& places) {
  const std::string_view sentence = error.what();
  for (const auto& [key, place] : places) {
    const bool about_it =
        sentence.starts_with(fmt::format("--{} ", key)) || sentence.starts_with(fmt::format("{} \"", key));
    if (about_it) return {error.code(), fmt::format("{}: {}", place, sentence)};
  }
  return error;
}

}  // namespace kqd::app
