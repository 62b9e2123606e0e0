#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// A number of its own that a problem or a method takes.
struct ParameterInfo {
  std::string_view name;
  double default_value;
  double lowest;   ///< smallest value allowed
  double highest;  ///< largest value allowed
  bool whole;      ///< whole numbers only
  std::string_view meaning;
  std::span<const std::string_view> choices = {};  ///< if any: words for the values 0, 1, 2, ...
};

/// Values by name; those not named keep their defaults.
using Parameters = std::map<std::string, double>;

/// A value of a parameter as a user writes it: "student" for a choice, else the shortest number.
[[nodiscard]] std::string parameter_text(const ParameterInfo& parameter, double value);

/// The values a parameter takes, in words: "one of normal, student", "a whole number in [1, 100]".
[[nodiscard]] std::string parameter_range(const ParameterInfo& parameter);

/// Takes over one setting as it is typed: "sd=1.6", "distribution=student". The last one of a name counts. `owner` is
/// whose parameters they are, for the error. Throws Error{invalid_option} when the parameter or its value is unknown.
void set_parameter(Parameters& values, std::string_view owner, std::span<const ParameterInfo> parameters,
                   std::string_view assignment);

}  // namespace kqd
