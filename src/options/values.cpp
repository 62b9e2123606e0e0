#include "options/values.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/fail.hpp"

namespace kqd {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 6> kDelimiters = {
    {{"tab", '\t'}, {"\\t", '\t'}, {"comma", ','}, {"semicolon", ';'}, {"bar", '|'}, {"space", ' '}}};

bool is_delimiter(char c) {
  try {
    validate(CsvFormat{.delimiter = c});
  } catch (const Error&) {
    return false;
  }
  return c != 0;
}

}  // namespace

std::string suggestion_among(std::string_view word, const std::vector<std::string>& known) {
  return suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
}

std::string accepted_values(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::count:
      return fmt::format("a whole number in {}..{}", option.lowest, option.highest);
    case OptionType::real:
      return option.highest == 0 ? fmt::format("a number >= {}, or inf", option.lowest)
                                 : fmt::format("a number between {} and {}", option.lowest, option.highest);
    case OptionType::flag:
      return "yes or no";
    case OptionType::size:
      return "a size of at least 1MB, as 800MB or 2GB";
    case OptionType::points:
      return option.choices == nullptr
                 ? "a matrix of numbers"
                 : fmt::format("one of {}, or points of your own", fmt::join(option.choices(), ", "));
    default:
      break;
  }
  if (option.id == "design") return "independent, paired, blocks:COLUMN or clusters:COLUMN";
  return option.choices == nullptr ? "a text" : fmt::format("one of {}", fmt::join(option.choices(), ", "));
}

std::string_view require_choice(const OptionInfo& option, std::string_view text) {
  const auto known = option.choices();
  if (std::ranges::find(known, text) != known.end()) return text;
  fail_option(option.id, text, accepted_values(option) + suggestion_among(text, known));
}

std::uint64_t whole_number(std::string_view id, std::string_view text, std::uint64_t lowest, std::uint64_t highest) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < lowest || value > highest) {
    fail_option(id, text, fmt::format("a whole number in {}..{}", lowest, highest));
  }
  return value;
}

std::uint64_t bytes_of(const OptionInfo& option, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {
      {{"B", 1.0}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}}};
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, end);
  const auto found = std::ranges::find_if(
      kUnits, [&](const auto& known) { return std::ranges::equal(known.first, unit, {}, ::tolower, ::tolower); });
  const double bytes = error == std::errc{} && found != kUnits.end() ? number * found->second : 0.0;
  if (!(bytes >= 1e6 && bytes <= 1e15)) fail_option(option.id, text, accepted_values(option));
  return static_cast<std::uint64_t>(bytes);
}

void read_value(const OptionInfo& option, std::string_view text, bool& value) {
  const bool is_flag = option.value.empty();  // CLI11 writes true for a flag
  const bool is_on = text == "yes" || (is_flag && text == "true");
  if (!is_on && text != "no" && !(is_flag && text == "false")) fail_option(option.id, text, accepted_values(option));
  value = is_on;
}

void read_value(const OptionInfo& option, std::string_view text, char& value) {
  const auto named = std::ranges::find(kDelimiters, text, [](const auto& entry) { return entry.first; });
  value = named != kDelimiters.end() ? named->second : text.size() == 1 ? text.front() : '\0';
  if (is_delimiter(value)) return;
  fail_option(option.id, text,
              "tab, comma, semicolon, bar, space, or one character that is not a letter, digit, quote or sign");
}

void read_value(const OptionInfo& option, std::string_view text, double& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const auto lowest = static_cast<double>(option.lowest);
  const auto highest = static_cast<double>(option.highest);
  const bool in_range = option.highest == 0 ? value >= lowest : value > lowest && value < highest;
  if (error != std::errc{} || stop != end || !in_range) fail_option(option.id, text, accepted_values(option));
}

void read_value(const OptionInfo& option, std::string_view text, std::string& value) {
  const bool goes_on = option.type == OptionType::list && !value.empty();
  value = goes_on ? fmt::format("{},{}", value, text) : std::string(text);
}

void read_value(const OptionInfo& /*option*/, std::string_view text, std::vector<std::string>& value) {
  value.emplace_back(text);
}

std::string text_of(bool value) {
  return value ? "yes" : "no";
}

std::string text_of(char value) {
  if (value == '\0') return "";
  const auto named = std::ranges::find(kDelimiters, value, [](const auto& entry) { return entry.second; });
  return named != kDelimiters.end() ? std::string(named->first) : std::string(1, value);
}

std::string text_of(double value) {
  return shortest(value);
}

std::string text_of(const std::string& value) {
  return value;
}

std::string text_of(const std::vector<std::string>& value) {
  return fmt::format("{}", fmt::join(value, ","));
}

std::string text_of(WeightsAs value) {
  return value == WeightsAs::checked ? "" : to_string(value);
}

}  // namespace kqd
