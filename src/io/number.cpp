#include "io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

namespace kqd {
namespace {

// In small letters. Those with # are what spreadsheets write for a formula that failed, the last two NaNs of Windows.
constexpr std::array kMissing = std::to_array<std::string_view>(
    {"",  "na",   "n/a", "<na>",   "nan",   "nat",     "null",  "none",   "nil",     "missing", "-",      "?",
     ".", "#n/a", "#na", "#null!", "#num!", "#value!", "#ref!", "#name?", "#div/0!", "1.#ind",  "1.#qnan"});

// std::from_chars knows no leading plus; what follows it must not be a second sign.
const char* skip_plus(const char* first, const char* last) {
  return last - first >= 2 && *first == '+' && first[1] != '-' ? first + 1 : first;
}

// The text in small letters, without a sign before it; nothing when it is longer than any known word.
std::optional<std::string> word_of(std::string_view text) {
  constexpr std::size_t kLongestWord = 9;
  if (text.size() > kLongestWord) return std::nullopt;
  if (text.size() > 1 && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

double infinity_with_sign_of(std::string_view text) {
  const double infinity = std::numeric_limits<double>::infinity();
  return text.front() == '-' ? -infinity : infinity;
}

// Of a decimal number that is not a double: whether it is too small rather than too large, judged by the decimal place
// of its first digit that is not 0 (as in 0.d * 10^place) and the exponent.
bool is_below_range(std::string_view text) {
  const auto exponent_mark = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent_mark);
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto lead = mantissa.find_first_of("123456789");
  const auto place = static_cast<long long>(point) - static_cast<long long>(lead);
  if (exponent_mark == std::string_view::npos) return place < 0;
  const char* digits = skip_plus(text.data() + exponent_mark + 1, text.data() + text.size());
  long long exponent = 0;
  const bool fits = std::from_chars(digits, text.data() + text.size(), exponent).ec == std::errc{};
  return fits ? exponent < -place : *digits == '-';
}

// A decimal number without its sign: 0.d1d2d3... * 10^exponent, d1 > 0.
struct Decimal {
  std::string digits;
  long long exponent = 0;
};

// The text is that of a finite number other than 0, so that its exponent is small.
Decimal decimal_of(std::string_view text) {
  Decimal decimal;
  const auto exponent_mark = std::min(text.find_first_of("eE"), text.size());
  bool behind_point = false;
  for (const char c : text.substr(0, exponent_mark)) {
    behind_point = behind_point || c == '.';
    if (c < '0' || c > '9') continue;
    if (c != '0' || !decimal.digits.empty()) decimal.digits += c;
    if (behind_point ? decimal.digits.empty() : !decimal.digits.empty()) decimal.exponent += behind_point ? -1 : 1;
  }
  if (exponent_mark < text.size()) {
    long long exponent = 0;
    const char* const last = text.data() + text.size();
    static_cast<void>(std::from_chars(skip_plus(text.data() + exponent_mark + 1, last), last, exponent));
    decimal.exponent += exponent;
  }
  return decimal;
}

// Of a decimal that is a whole number of at most 20 digits.
std::optional<std::string> whole_digits(const Decimal& decimal) {
  constexpr long long kMostDigits = 20;  // of a number of 64 bits
  if (decimal.exponent > kMostDigits) return std::nullopt;
  const auto length = static_cast<std::size_t>(decimal.exponent);
  if (decimal.digits.find_first_not_of('0', length) != std::string::npos) return std::nullopt;
  std::string digits = decimal.digits.substr(0, length);
  return digits.append(length - digits.size(), '0');
}

}  // namespace

const char* parse_finite(const char* first, const char* last, double& value) {
  const auto [end, error] = std::from_chars(skip_plus(first, last), last, value);
  const bool finite = error == std::errc{} && std::abs(value) <= std::numeric_limits<double>::max();
  return finite ? end : nullptr;
}

const char* parse_finite_with_comma(const char* first, const char* last, double& value) {
  // Longer numbers, and those of this length that go on, are left to the slow way.
  std::array<char, 64> copy{};
  const std::string_view text(first, std::min(static_cast<std::size_t>(last - first), copy.size()));
  const std::size_t length = std::min(text.find_first_not_of("0123456789+-eE,"), text.size());
  if (length == copy.size()) return nullptr;
  std::replace_copy(first, first + length, copy.begin(), ',', '.');
  const char* const end = parse_finite(copy.data(), copy.data() + length, value);
  return end == nullptr ? nullptr : first + (end - copy.data());
}

std::int64_t rounded_off(std::int64_t value) {
  return value >= 0 ? rounded_off(static_cast<std::uint64_t>(value))
                    : -rounded_off(0U - static_cast<std::uint64_t>(value));
}

std::int64_t rounded_off(std::uint64_t value) {
  const auto nearest = static_cast<double>(value);
  // 2^64 itself is 0 in this arithmetic, which is right: the difference is what counts.
  const std::uint64_t whole = nearest < 0x1p64 ? static_cast<std::uint64_t>(nearest) : 0U;
  return static_cast<std::int64_t>(value - whole);
}

std::optional<std::int64_t> rounded_off(std::string_view text, double nearest) {
  const std::optional<std::string> whole = whole_digits(decimal_of(text));
  std::uint64_t value = 0;
  if (!whole || std::from_chars(whole->data(), whole->data() + whole->size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return nearest < 0.0 ? -rounded_off(value) : rounded_off(value);
}

bool is_print_of(std::string_view text, double nearest) {
  std::string digits = decimal_of(text).digits;
  if (text.find_first_of(".eE") != std::string_view::npos) digits.erase(digits.find_last_not_of('0') + 1);
  return decimal_of(fmt::format("{:.{}e}", std::abs(nearest), digits.size() - 1)).digits == digits;
}

Cell parse_cell(std::string_view text) {
  const char* last = text.data() + text.size();
  double value = 0.0;
  if (!text.empty() && parse_finite(text.data(), last, value) == last) return {CellKind::number, value};
  const auto word = word_of(text);
  if (word && std::ranges::find(kMissing, *word) != kMissing.end()) return {CellKind::missing};
  if (word == "inf" || word == "infinity") return {CellKind::infinite, infinity_with_sign_of(text)};
  const auto [end, error] = std::from_chars(skip_plus(text.data(), last), last, value);
  if (error != std::errc::result_out_of_range || end != last) return {CellKind::text};
  if (!is_below_range(text)) return {CellKind::out_of_range, infinity_with_sign_of(text)};
  return {CellKind::number, text.front() == '-' ? -0.0 : 0.0};
}

}  // namespace kqd
