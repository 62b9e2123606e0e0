// The names of options in the front ends.
#include <algorithm>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "kqd/options/options.hpp"

namespace kqd {
namespace {

std::string with_hyphens(std::string_view id) {
  std::string text(id);
  std::ranges::replace(text, '_', '-');
  return text;
}

bool is_number(std::string_view value) {
  return parse_number(value) || value == "inf" || value == "-inf" || value == "nan";
}

bool is_negative(std::string_view value) {
  return value == "no" || value == "false" || value == "absent";
}

// The value as it is typed in a shell: in single quotes if it has a blank or a character that a shell interprets.
std::string in_a_shell(std::string_view value) {
  if (value.find_first_of(" \t\"'`$&|;<>()[]*?!#~\\") == std::string_view::npos) return std::string(value);
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// How a language writes values.
struct Syntax {
  std::string_view yes;
  std::string_view no;
  std::string_view equals;
  bool scipy_names;  // rng, workers and nan_policy; else seed, threads and na
};
constexpr Syntax kPython = {"True", "False", "=", true};
constexpr Syntax kR = {"TRUE", "FALSE", " = ", false};

std::string value_in(const Syntax& syntax, OptionType type, std::string_view value) {
  if (type == OptionType::flag) return std::string(is_negative(value) ? syntax.no : syntax.yes);
  // Bytes are given as a number.
  if (type == OptionType::size && value.ends_with('B')) value.remove_suffix(1);
  if (type == OptionType::count || type == OptionType::real || is_number(value)) return std::string(value);
  return fmt::format("\"{}\"", value);
}

std::string names_in(const Syntax& syntax, std::string_view id, std::string_view value) {
  const OptionInfo* const option = find_option(id);
  if (option != nullptr && option->id == "parameters") {
    const std::size_t equals = value.find('=');
    return equals == std::string_view::npos ? std::string(value)
                                            : names_in(syntax, value.substr(0, equals), value.substr(equals + 1));
  }
  const bool by_id =
      option == nullptr || (!syntax.scipy_names && (option->section == "Run" || option->section == "Data"));
  const std::string name = by_id ? std::string(id) : keyword_name(*option);
  if (value.empty()) return name;
  const OptionType type = option == nullptr ? OptionType::text : option->type;
  return fmt::format("{}{}{}", name, syntax.equals, value_in(syntax, type, value));
}

}  // namespace

std::string flag_name(const OptionInfo& option) {
  return option.flag.empty() ? with_hyphens(option.id) : std::string(option.flag);
}

std::string keyword_name(const OptionInfo& option) {
  return std::string(option.keyword.empty() ? option.id : option.keyword);
}

const OptionInfo* find_option(std::string_view name) {
  const auto by_id = std::ranges::find(options(), name, &OptionInfo::id);
  if (by_id != options().end()) return &*by_id;
  const std::string flag = with_hyphens(name);
  const auto found = std::ranges::find_if(
      options(), [&](const OptionInfo& option) { return flag_name(option) == flag || keyword_name(option) == name; });
  return found == options().end() ? nullptr : &*found;
}

std::string program_names(std::string_view id, std::string_view value) {
  if (is_negative(value)) {  // --no-header
    const OptionInfo* const opposite = find_option("no_" + std::string(id));
    if (opposite != nullptr) return "--" + flag_name(*opposite);
  }
  const OptionInfo* const option = find_option(id);
  const std::string name = "--" + (option == nullptr ? with_hyphens(id) : flag_name(*option));
  const bool takes_value = option == nullptr || option->type != OptionType::flag || !option->value.empty();
  if (value.empty() || !takes_value) return name;
  return fmt::format("{}{}{}", name, option != nullptr && !option->bare.empty() ? '=' : ' ', in_a_shell(value));
}

std::string python_names(std::string_view id, std::string_view value) {
  return names_in(kPython, id, value);
}

std::string r_names(std::string_view id, std::string_view value) {
  return names_in(kR, id, value);
}

}  // namespace kqd
