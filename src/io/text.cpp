#include "io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kqd {
namespace {

constexpr std::size_t kShownCharacters = 40;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

// Length of the well-formed UTF-8 sequence at the front of the text, 0 when there is none (Unicode, table 3-7). The
// narrowed second bytes shut out overlong forms, surrogates and code points above U+10FFFF.
std::size_t utf8_length(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte_at(text, i) >= low && byte_at(text, i) <= high;
  };
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    return continues(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    return continues(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

// U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069: what follows is shown in another order than it has.
bool changes_direction(std::string_view character) {
  const unsigned last = byte_at(character, 2);
  if (character == "\xd8\x9c") return true;
  if (character.starts_with("\xe2\x80")) return last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae);
  return character.starts_with("\xe2\x81") && last >= 0xa6 && last <= 0xa9;
}

bool is_control(std::string_view character) {
  const unsigned lead = byte_at(character, 0);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && byte_at(character, 1) < 0xa0) || changes_direction(character);
}

void append_hexadecimal(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

void append_character(std::string& out, std::string_view character, std::string_view escaped_too) {
  const char c = character.front();
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (is_control(character)) {
    append_hexadecimal(out, character);
  } else {
    if (escaped_too.find(c) != std::string_view::npos) out += '\\';
    out += character;
  }
}

std::string escape(std::string_view text, std::size_t max_characters, std::string_view escaped_too) {
  std::string out;
  for (std::size_t shown = 0; !text.empty(); ++shown) {
    if (shown == max_characters) return out += "...";
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      append_hexadecimal(out, text.substr(0, 1));
    } else {
      append_character(out, text.substr(0, length), escaped_too);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escape(text, kAll, "");
}

std::string shortened(std::string_view text) {
  return escape(text, kShownCharacters, "");
}

std::string in_quotes(std::string_view text) {
  return '"' + escape(text, kShownCharacters, "\"\\") + '"';
}

std::string in_one_direction(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, utf8_length(text)));
    if (changes_direction(character)) {
      append_hexadecimal(out, character);
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

bool has_suffix(std::string_view path, std::string_view suffix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return path.size() >= suffix.size() &&
         std::ranges::equal(path.substr(path.size() - suffix.size()), suffix, {}, lower);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace kqd
