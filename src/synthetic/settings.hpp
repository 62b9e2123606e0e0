#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/random.hpp"
#include "kqd/synthetic/problems.hpp"

namespace kqd {

/// A checked request: every parameter of the problem has a value within its range.
class ProblemSettings {
 public:
  /// Throws Error{invalid_option} naming what is unknown or out of range.
  ProblemSettings(const ProblemInfo& problem, const ProblemRequest& request);

  [[nodiscard]] std::size_t dim() const { return dim_; }
  [[nodiscard]] const ProblemInfo& problem() const { return *problem_; }
  [[nodiscard]] const std::map<std::string, double>& values() const { return values_; }
  [[nodiscard]] double value(std::string_view parameter) const { return values_.at(std::string(parameter)); }
  [[nodiscard]] std::size_t count(std::string_view parameter) const {
    return static_cast<std::size_t>(value(parameter));
  }
  /// A count of coordinates; refused when there are fewer of them.
  [[nodiscard]] std::size_t count_of_coordinates(std::string_view parameter) const;

  /// Whether the caller set the parameter, to whatever value.
  [[nodiscard]] bool is_given(std::string_view parameter) const;
  /// Puts what was drawn in the place of a value that asked for a draw.
  void replace(std::string_view parameter, double value) { values_.at(std::string(parameter)) = value; }

  /// For what is drawn once per run: a stream that no row has.
  [[nodiscard]] RandomStream run_stream() const;

 private:
  const ProblemInfo* problem_;
  const ProblemRequest* request_;
  std::size_t dim_;
  std::map<std::string, double> values_;
};

/// The parameter of a problem with this name; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const ParameterInfo& find_parameter(const ProblemInfo& problem, std::string_view name);

}  // namespace kqd
