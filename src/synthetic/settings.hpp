#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/parameter_values.hpp"
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
  [[nodiscard]] const Parameters& values() const { return parameters_.values(); }
  [[nodiscard]] double value(std::string_view parameter) const { return parameters_.value(parameter); }
  [[nodiscard]] std::size_t count(std::string_view parameter) const { return parameters_.count(parameter); }
  /// A count of coordinates; refused when there are fewer of them.
  [[nodiscard]] std::size_t count_of_coordinates(std::string_view parameter) const;

  /// Whether the caller set the parameter, to whatever value.
  [[nodiscard]] bool is_given(std::string_view parameter) const;
  /// Puts what was drawn in the place of a value that asked for a draw.
  void replace(std::string_view parameter, double value) { parameters_.replace(parameter, value); }

  /// For a problem whose parameters determine the dimension: refuses another one; `formula` is for the error.
  void derive_dim(std::size_t dim, std::string_view formula);

  /// For what is drawn once per run: a stream that no row has.
  [[nodiscard]] RandomStream run_stream() const;

 private:
  const ProblemInfo* problem_;
  const ProblemRequest* request_;
  std::size_t dim_;
  ParameterValues parameters_;
};

}  // namespace kqd
