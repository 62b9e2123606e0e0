#include "kqd/core/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/text.hpp"

namespace kqd {
namespace {

bool is_allowed(const ParameterInfo& parameter, double value) {
  const bool in_range = value >= parameter.lowest && value <= parameter.highest;  // false for NaN
  return in_range && (!parameter.whole || value == std::floor(value));
}

double value_from_text(std::string_view owner, const ParameterInfo& parameter, std::string_view text) {
  if (parameter.choices.empty()) {
    if (const auto number = parse_number(text)) return *number;
  } else {
    const auto choice = std::ranges::find(parameter.choices, text);
    if (choice != parameter.choices.end()) return static_cast<double>(choice - parameter.choices.begin());
  }
  fail_at(ErrorCode::invalid_option, owner, fmt::format("{} = {}", parameter.name, no_references(text)),
          parameter_range(parameter) + suggestion(text, parameter.choices));
}

}  // namespace

const ParameterInfo& find_parameter(std::string_view owner, std::span<const ParameterInfo> parameters,
                                    std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &ParameterInfo::name);
  if (found != parameters.end()) return *found;
  if (parameters.empty()) {
    fail_at(ErrorCode::invalid_option, owner, fmt::format("unknown parameter \"{}\"", no_references(name)), "none");
  }
  std::vector<std::string_view> known;
  for (const ParameterInfo& parameter : parameters) known.push_back(parameter.name);
  fail_at(ErrorCode::invalid_option, owner, fmt::format("unknown parameter \"{}\"", no_references(name)),
          fmt::format("one of {}{}", join(known), suggestion(name, known)));
}

std::string parameter_text(const ParameterInfo& parameter, double value) {
  if (parameter.choices.empty() || !is_allowed(parameter, value)) return shortest(value);
  return std::string(parameter.choices[static_cast<std::size_t>(value)]);
}

std::string parameter_range(const ParameterInfo& parameter) {
  if (!parameter.choices.empty()) return fmt::format("one of {}", join(parameter.choices));
  const std::string_view kind = parameter.whole ? "whole " : "";
  if (std::isinf(parameter.highest)) return fmt::format("a {}number >= {}", kind, shortest(parameter.lowest));
  return fmt::format("a {}number in [{}, {}]", kind, shortest(parameter.lowest), shortest(parameter.highest));
}

void set_parameter(Parameters& values, std::string_view owner, std::span<const ParameterInfo> parameters,
                   std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    fail_at(ErrorCode::invalid_option, owner, fmt::format("\"{}\" does not set a parameter", no_references(assignment)),
            "name=value");
  }
  const ParameterInfo& parameter = find_parameter(owner, parameters, trim(assignment.substr(0, equals)));
  values[std::string(parameter.name)] = value_from_text(owner, parameter, trim(assignment.substr(equals + 1)));
}

ParameterValues::ParameterValues(std::string_view owner, std::span<const ParameterInfo> parameters,
                                 const Parameters& given) {
  for (const ParameterInfo& parameter : parameters) values_.emplace(parameter.name, parameter.default_value);
  for (const auto& [name, value] : given) {
    const ParameterInfo& parameter = find_parameter(owner, parameters, name);
    if (!is_allowed(parameter, value)) {
      fail_at(ErrorCode::invalid_option, owner, fmt::format("{} = {}", name, shortest(value)),
              parameter_range(parameter));
    }
    replace(name, value);
  }
}

}  // namespace kqd
