#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

namespace kqd {
namespace {

// The number of letters to insert, delete, replace or swap with a neighbour (restricted Damerau-Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  if (known.empty()) return "";
  const auto best =
      std::ranges::min_element(known, {}, [&](std::string_view candidate) { return edit_distance(word, candidate); });
  const std::size_t distance = edit_distance(word, *best);
  // A short word may be two edits away from anything, an empty one too: at least one letter has to stay.
  const bool near = distance <= std::max<std::size_t>(2, best->size() / 3) && distance < best->size();
  return near ? fmt::format("; did you mean {}?", *best) : "";
}

std::string join(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string shortest(double value) {
  return fmt::format("{}", value);
}

std::vector<std::string_view> split_terms(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool in_exponent = i >= 2 && (text[i - 1] == 'e' || text[i - 1] == 'E') &&
                             (std::isdigit(static_cast<unsigned char>(text[i - 2])) != 0 || text[i - 2] == '.');
    if (text[i] != separator || in_exponent) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace kqd
