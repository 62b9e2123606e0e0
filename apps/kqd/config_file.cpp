#include "config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kqd/core/error.hpp"

namespace kqd::app {
namespace {

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

}  // namespace kqd::app
