#include "config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "kqd/kqd.hpp"
#include "names.hpp"

namespace kqd::app {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// What a number may hold; whether it is one is judged by the flag, which knows its bounds.
bool is_number_part(char c) {
  return is_bare(c) || c == '+' || c == '.';
}

// Reads one line from left to right.
class LineReader {
 public:
  LineReader(std::string_view line, std::string place) : rest_(line), place_(std::move(place)) {}

  [[noreturn]] void refuse(std::string_view expected) const {
    const std::string found = rest_.empty() ? "the line ends" : fmt::format("\"{}\" stands", shown(rest_));
    throw Error(ErrorCode::unreadable_input, fmt::format("{}: {} where {} is expected", place_, found, expected));
  }

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.empty() || rest_.front() == '#';
  }
  [[nodiscard]] bool next_is(char c) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == c;
  }
  void take(char c) {
    if (!next_is(c)) refuse(fmt::format("\"{}\"", c));
    rest_.remove_prefix(1);
  }
  std::string key() {
    if (next_is('"') || next_is('\'')) return quoted();
    return std::string(run_of(is_bare, "a key"));
  }
  std::string value(bool& is_bool) {
    if (next_is('"') || next_is('\'')) return quoted();
    const std::string word(run_of(is_number_part, "a value: \"text\", a number, true or false"));
    is_bool = word == "true" || word == "false";
    const bool number = word.front() == '+' || word.front() == '-' || (word.front() >= '0' && word.front() <= '9');
    if (!is_bool && !number && word != "inf" && word != "nan") {
      throw Error(ErrorCode::unreadable_input,
                  fmt::format("{}: {} is no number, true or false; text needs quotes: \"{}\"", place_, word, word));
    }
    return word;
  }

 private:
  static std::string shown(std::string_view text) {
    constexpr std::size_t kShown = 20;
    std::string safe;
    for (const char c : text.substr(0, kShown)) {
      safe += c >= ' ' && c < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    return safe;
  }

  template <class Belongs>
  std::string_view run_of(const Belongs& belongs, std::string_view expected) {
    skip_blanks();
    const auto end = std::ranges::find_if_not(rest_, belongs);
    const auto length = static_cast<std::size_t>(end - rest_.begin());
    if (length == 0) refuse(expected);
    const std::string_view run = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return run;
  }

  std::string quoted() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string text;
    while (!rest_.empty() && rest_.front() != quote) {
      if (quote == '"' && rest_.front() == '\\') {
        rest_.remove_prefix(1);
        text += escaped();
      } else {
        text += rest_.front();
      }
      rest_.remove_prefix(1);
    }
    if (rest_.empty()) refuse(fmt::format("the closing {}", quote));
    rest_.remove_prefix(1);
    return text;
  }

  char escaped() const {
    constexpr std::string_view kNames = "\"\\nt";
    constexpr std::string_view kMeant = "\"\\\n\t";
    const std::size_t at = rest_.empty() ? std::string_view::npos : kNames.find(rest_.front());
    if (at == std::string_view::npos) refuse("one of \\\" \\\\ \\n \\t");
    return kMeant[at];
  }

  std::string_view rest_;
  std::string place_;
};

void refuse_bytes(std::string_view line, const std::string& place) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
  const auto found = std::ranges::find_if(line, control);
  if (found == line.end()) return;
  throw Error(ErrorCode::unreadable_input, fmt::format("{}: byte {} is no text, expected a config file in TOML", place,
                                                       static_cast<unsigned>(static_cast<unsigned char>(*found))));
}

ConfigEntry read_entry(LineReader& reader) {
  ConfigEntry entry;
  entry.key = reader.key();
  reader.take('=');
  if (!reader.next_is('[')) {
    entry.values.push_back(reader.value(entry.is_bool));
    return entry;
  }
  reader.take('[');
  bool ignored = false;
  while (!reader.next_is(']')) {
    entry.values.push_back(reader.value(ignored));
    if (!reader.next_is(']')) reader.take(',');
  }
  reader.take(']');
  return entry;
}

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

std::vector<ConfigEntry> parse_config(std::string_view text, std::string_view name) {
  std::vector<ConfigEntry> entries;
  std::string command;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view content = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (content.ends_with('\r')) content.remove_suffix(1);
    const std::string place = fmt::format("{}:{}", name, line);
    refuse_bytes(content, place);
    LineReader reader(content, place);
    if (reader.at_end()) continue;
    if (reader.next_is('[')) {
      reader.take('[');
      command = reader.key();
      reader.take(']');
    } else {
      ConfigEntry entry = read_entry(reader);
      entry.command = command;
      entry.line = line;
      const auto same = [&](const ConfigEntry& e) { return e.command == entry.command && e.key == entry.key; };
      if (const auto earlier = std::ranges::find_if(entries, same); earlier != entries.end()) {
        throw Error(ErrorCode::unreadable_input, fmt::format("{}: {} is set for the second time, first in line {}",
                                                             place, entry.key, earlier->line));
      }
      entries.push_back(std::move(entry));
    }
    if (!reader.at_end()) reader.refuse("the end of the line");
  }
  return entries;
}

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
