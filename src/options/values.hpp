#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/text.hpp"
#include "kqd/options/options.hpp"

namespace kqd {

/// "; did you mean X?", or "" when no known word is near.
[[nodiscard]] std::string suggestion_among(std::string_view word, const std::vector<std::string>& known);

/// The text, when it is one of the choices of the option; throws Error{invalid_option} for another one.
std::string_view require_choice(const OptionInfo& option, std::string_view text);

/// Bytes from a number and an optional unit: powers of 1000 as in MB or of 1024 as in MiB.
[[nodiscard]] std::uint64_t bytes_of(const OptionInfo& option, std::string_view text);

/// Reads the value of an option into a field. Throws Error{invalid_option} with the range of the option.
void read_value(const OptionInfo& option, std::string_view text, bool& value);
void read_value(const OptionInfo& option, std::string_view text, char& value);
void read_value(const OptionInfo& option, std::string_view text, double& value);
void read_value(const OptionInfo& option, std::string_view text, std::string& value);
void read_value(const OptionInfo& option, std::string_view text, std::vector<std::string>& value);

template <std::integral Integer>
void read_value(const OptionInfo& option, std::string_view text, Integer& value) {
  value = static_cast<Integer>(option.type == OptionType::size
                                   ? bytes_of(option, text)
                                   : whole_number(option.id, text, option.lowest, option.highest));
}

template <std::integral Integer>
void read_value(const OptionInfo& option, std::string_view text, std::optional<Integer>& value) {
  read_value(option, text, value.emplace());
}

template <class Enum>
requires std::is_enum_v<Enum>
void read_value(const OptionInfo& option, std::string_view text, Enum& value) {
  require_choice(option, text);
  int i = 0;
  while (to_string(static_cast<Enum>(i)) != text) ++i;
  value = static_cast<Enum>(i);
}

/// The text that read_value() reads back; empty for what is not set.
[[nodiscard]] std::string text_of(bool value);
[[nodiscard]] std::string text_of(char value);
[[nodiscard]] std::string text_of(double value);
[[nodiscard]] std::string text_of(const std::string& value);
[[nodiscard]] std::string text_of(const std::vector<std::string>& value);
[[nodiscard]] std::string text_of(WeightsAs value);

template <std::integral Integer>
std::string text_of(Integer value) {
  return std::to_string(value);
}

template <std::integral Integer>
std::string text_of(const std::optional<Integer>& value) {
  return value ? std::to_string(*value) : "";
}

template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) {
  return to_string(value);
}

}  // namespace kqd
