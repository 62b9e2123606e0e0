#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "kqd/core/parameters.hpp"

namespace kqd {

/// The parameter with this name; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const ParameterInfo& find_parameter(std::string_view owner, std::span<const ParameterInfo> parameters,
                                                  std::string_view name);

/// Checked values: every parameter has one within its range.
class ParameterValues {
 public:
  /// Throws Error{invalid_option} naming what is unknown or out of range.
  ParameterValues(std::string_view owner, std::span<const ParameterInfo> parameters, const Parameters& given);

  [[nodiscard]] const Parameters& values() const { return values_; }
  [[nodiscard]] double value(std::string_view name) const { return values_.at(std::string(name)); }
  [[nodiscard]] std::size_t count(std::string_view name) const { return static_cast<std::size_t>(value(name)); }
  /// The chosen word as an enumerator: words in the table are in the order of the enumerators.
  template <class Enum>
  [[nodiscard]] Enum choice(std::string_view name) const {
    return static_cast<Enum>(count(name));
  }
  /// Replaces a value that asks for an automatic choice by the one that was made.
  void replace(std::string_view name, double value) { values_.at(std::string(name)) = value; }

 private:
  Parameters values_;
};

}  // namespace kqd
