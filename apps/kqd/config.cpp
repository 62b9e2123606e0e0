#include "config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "kqd/core/error.hpp"
#include "kqd/io/printable.hpp"
#include "names.hpp"

namespace kqd::app {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

[[noreturn]] void refuse(const std::string& path, const std::string& problem, const std::string& expected = "") {
  throw Error(ErrorCode::invalid_option,
              {.place = printable(path), .value = printable(problem), .expected = printable(expected)});
}

std::string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::unreadable_input,
                {.place = printable(path), .value = "is a directory", .expected = "a file"});
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(
        ErrorCode::unreadable_input,
        {.place = printable(path), .value = "cannot read the config file: " + std::generic_category().message(errno)});
  }
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    throw Error(ErrorCode::unreadable_input,
                {.place = printable(path), .value = "the config file is too long", .expected = "at most 1 MiB"});
  }
  return text;
}

bool is_settable(const CLI::App& command, const std::string& key) {
  const CLI::Option* const option = command.get_option_no_throw("--" + key);
  return option != nullptr && !option->get_positional() && key != "config" && key != "help";
}

std::vector<std::string> keys_of(const CLI::App& command) {
  std::vector<std::string> keys = flag_names(command);
  for (std::string& flag : keys) flag.erase(0, flag.find_first_not_of('-'));
  std::erase_if(keys, [](const std::string& key) { return key == "config" || key == "help"; });
  return keys;
}

// Lines for other commands are checked too: a misspelt one is reported whichever command runs.
void check(const CLI::ConfigItem& item, const std::string& path, const CLI::App& program) {
  const auto commands = all_commands(program);
  const std::string table = fmt::format("{}", fmt::join(item.parents, "."));
  const auto owner = std::ranges::find(commands, table, [](const CLI::App* command) { return command->get_name(); });
  if (!item.parents.empty() && owner == commands.end()) {
    const auto names = command_names(program);
    refuse(path, fmt::format("unknown command [{}]", table),
           fmt::format("one of {}{}", fmt::join(names, ", "), suggestion_among(table, names)));
  }
  if (item.name == "++" || item.name == "--") return;  // the begin and the end of a table
  const auto has_it = [&](const CLI::App* command) { return is_settable(*command, item.name); };
  if (item.parents.empty() ? std::ranges::any_of(commands, has_it) : has_it(*owner)) return;
  std::vector<std::string> known;
  for (const CLI::App* command : commands) {
    if (item.parents.empty() || command == *owner) std::ranges::copy(keys_of(*command), std::back_inserter(known));
  }
  refuse(path,
         fmt::format("unknown option {} for {}{}", item.name, item.parents.empty() ? "any command" : full_name(**owner),
                     suggestion_among(item.name, known)));
}

// True if neither this option nor one that excludes it was given.
bool is_open(const CLI::Option& option, const std::set<std::string>& of_table, const std::string& path) {
  const auto& name = option.get_lnames().front();
  if (of_table.contains(name)) refuse(path, fmt::format("{} is set twice", name));
  if (option.count() > 0) return false;
  for (const CLI::Option* other : option.get_excludes()) {
    if (other->count() == 0) continue;
    const auto& other_name = other->get_lnames().front();
    if (!of_table.contains(other_name)) return false;
    refuse(path, fmt::format("{} and {} exclude each other", other_name, name), "one of them");
  }
  return true;
}

// CLI11 cuts a line at #, also within quotes.
void require_whole(const CLI::ConfigItem& item, const std::string& path) {
  for (const std::string& value : item.inputs) {
    if (value.empty() || (value.front() != '"' && value.front() != '\'' && value.front() != '[')) continue;
    refuse(path, fmt::format("{} = {}", item.name, value), "a value with matching quotes or brackets and without #");
  }
}

void set(CLI::Option& option, const CLI::ConfigItem& item, const std::string& path) {
  require_whole(item, path);
  const bool is_flag = option.get_items_expected_max() == 0;
  const bool takes_several =
      option.get_multi_option_policy() != CLI::MultiOptionPolicy::TakeLast || option.get_expected_max() > 1;
  if (item.inputs.size() != 1 && !takes_several) {
    refuse(path, fmt::format("{} = [{}]", item.name, fmt::join(item.inputs, ", ")), "one value");
  }
  try {
    for (const std::string& value : item.inputs) {
      if (is_flag && value == "false") return;
      option.add_result(is_flag ? option.get_flag_value(item.name, value == "true" ? "" : value) : value);
    }
    option.run_callback();
  } catch (const CLI::Error&) {
    refuse(path, fmt::format("{} = {}", item.name, fmt::join(item.inputs, ", ")),
           is_flag ? "true or false" : "a value");
  }
}

// CLI11 reads other lines, or nothing, for a list without ].
void require_closed_brackets(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    char quote = '\0';
    bool open = false;
    for (const char c : line) {
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '#') {
        break;
      } else if (c == '[' || c == ']') {
        open = c == '[';
      }
    }
    if (open) refuse(fmt::format("{}:{}", path, number), "[ without ]", "a table or a list on one line");
  }
}

}  // namespace

std::vector<CLI::ConfigItem> read_config(const std::string& path) {
  std::string text = read_file(path);
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  require_closed_brackets(text, path);
  std::istringstream lines(text);
  return CLI::ConfigTOML().from_config(lines);
}

std::set<std::string> apply_config(const std::string& path, const CLI::App& program, CLI::App& command) {
  const auto items = read_config(path);
  for (const CLI::ConfigItem& item : items) check(item, path, program);
  std::set<std::string> names;
  for (const bool own_table : {true, false}) {
    std::set<std::string> of_table;
    for (const CLI::ConfigItem& item : items) {
      CLI::Option* const option = command.get_option_no_throw("--" + item.name);
      if (option == nullptr || item.parents.empty() == own_table) continue;
      if (own_table && item.parents.front() != command.get_name()) continue;
      if (!is_open(*option, of_table, path)) continue;
      set(*option, item, path);
      of_table.insert(item.name);
    }
    names.merge(of_table);
  }
  return names;
}

}  // namespace kqd::app
