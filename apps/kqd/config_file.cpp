#include "config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include "kqd/core/error.hpp"

namespace kqd::app {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
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
    const bool number = word.front() == '+' || word.front() == '-' || is_digit(word.front());
    if (!is_bool && !number && word != "inf" && word != "nan") {
      throw Error(ErrorCode::unreadable_input,
                  fmt::format("{}: {} is not a number, true or false; text needs quotes: \"{}\"", place_, word, word));
    }
    return number ? plain_number(word) : word;
  }

 private:
  // A number as flags know it: without a sign +, without _ between digits, and not in base 16, 8 or 2.
  [[nodiscard]] std::string plain_number(std::string_view word) const {
    const std::string_view given = word;
    if (word.front() == '+') word.remove_prefix(1);
    std::string plain;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool between =
          i > 0 && i + 1 < word.size() && std::isxdigit(word[i - 1]) != 0 && std::isxdigit(word[i + 1]) != 0;
      if (word[i] == '_' && !between) refuse_number(given);
      if (word[i] != '_') plain += word[i];
    }
    const int base = plain.starts_with("0x") ? 16 : plain.starts_with("0o") ? 8 : plain.starts_with("0b") ? 2 : 10;
    if (base == 10) return plain;
    std::uint64_t value = 0;
    const char* const end = plain.data() + plain.size();
    const auto [stop, error] = std::from_chars(plain.data() + 2, end, value, base);
    if (error != std::errc{} || stop != end) refuse_number(given);
    return std::to_string(value);
  }

  [[noreturn]] void refuse_number(std::string_view word) const {
    throw Error(ErrorCode::unreadable_input,
                fmt::format("{}: {} is not a number, expected one as 1000, 1_000, 0.5, 1e-3 or 0x10", place_, word));
  }

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
  throw Error(ErrorCode::unreadable_input, fmt::format("{}: byte {} is not text, expected a config file in TOML", place,
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

void add_table(std::vector<ConfigTable>& tables, std::string command, std::size_t line, const std::string& place) {
  if (command.empty()) {
    throw Error(ErrorCode::unreadable_input, fmt::format("{}: [\"\"] names no command", place));
  }
  const auto earlier = std::ranges::find(tables, command, &ConfigTable::command);
  if (earlier != tables.end()) {
    throw Error(ErrorCode::unreadable_input,
                fmt::format("{}: [{}] is opened for the second time, first in line {}", place, command, earlier->line));
  }
  tables.push_back({std::move(command), line});
}

void add_entry(ConfigTable& table, ConfigEntry entry, const std::string& place) {
  const auto earlier = std::ranges::find(table.entries, entry.key, &ConfigEntry::key);
  if (earlier != table.entries.end()) {
    throw Error(ErrorCode::unreadable_input,
                fmt::format("{}: {} is set for the second time, first in line {}", place, entry.key, earlier->line));
  }
  table.entries.push_back(std::move(entry));
}

}  // namespace

std::vector<ConfigTable> parse_config(std::string_view text, std::string_view name) {
  std::vector<ConfigTable> tables(1);
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
      add_table(tables, reader.key(), line, place);
      reader.take(']');
    } else {
      ConfigEntry entry = read_entry(reader);
      entry.line = line;
      add_entry(tables.back(), std::move(entry), place);
    }
    if (!reader.at_end()) reader.refuse("the end of the line");
  }
  return tables;
}

}  // namespace kqd::app
