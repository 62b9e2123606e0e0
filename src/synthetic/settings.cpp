#include "synthetic/settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fail.hpp"
#include "core/text.hpp"

namespace kqd {
namespace {

void refuse_empty_sample(std::string_view field, std::size_t num_rows) {
  if (num_rows == 0) fail(ErrorCode::invalid_option, "ProblemRequest::{} = 0, needs >= 1", field);
}

std::string dimension_range(const ProblemInfo& problem) {
  if (problem.lowest_dim == problem.highest_dim) return fmt::format("{}", problem.lowest_dim);
  if (problem.highest_dim == std::numeric_limits<std::size_t>::max()) return fmt::format(">= {}", problem.lowest_dim);
  return fmt::format("{} to {}", problem.lowest_dim, problem.highest_dim);
}

std::size_t checked_dim(const ProblemInfo& problem, std::size_t dim) {
  if (dim == 0) return problem.default_dim;
  if (dim < problem.lowest_dim || dim > problem.highest_dim) {
    fail(ErrorCode::invalid_option, "{}: dim = {}, needs {}", problem.id, dim, dimension_range(problem));
  }
  return dim;
}

bool is_allowed(const ParameterInfo& parameter, double value) {
  const bool in_range = value >= parameter.lowest && value <= parameter.highest;  // false for NaN
  return in_range && (!parameter.whole || value == std::floor(value));
}

}  // namespace

ProblemSettings::ProblemSettings(const ProblemInfo& problem, const ProblemRequest& request)
    : problem_(&problem), request_(&request), dim_(checked_dim(problem, request.dim)) {
  refuse_empty_sample("n_x", request.n_x);
  refuse_empty_sample("n_y", request.n_y);
  for (const ParameterInfo& parameter : problem.parameters) values_.emplace(parameter.name, parameter.default_value);
  for (const auto& [name, value] : request.parameters) {
    const ParameterInfo& parameter = find_parameter(problem, name);
    if (!is_allowed(parameter, value)) {
      fail(ErrorCode::invalid_option, "{}: {} = {}, needs {}", problem.id, name, shortest(value),
           parameter_range(parameter));
    }
    replace(name, value);
  }
}

std::size_t ProblemSettings::count_of_coordinates(std::string_view parameter) const {
  const std::size_t wanted = count(parameter);
  if (wanted > dim_) {
    fail(ErrorCode::invalid_option, "{}: {} = {}, needs at most dim = {}", problem_->id, parameter, wanted, dim_);
  }
  return wanted;
}

bool ProblemSettings::is_given(std::string_view parameter) const {
  return request_->parameters.contains(std::string(parameter));
}

RandomStream ProblemSettings::run_stream() const {
  constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();
  return {request_->seed, Purpose::synthetic_x, kNoRow};
}

const ParameterInfo& find_parameter(const ProblemInfo& problem, std::string_view name) {
  const auto found = std::ranges::find(problem.parameters, name, &ParameterInfo::name);
  if (found != problem.parameters.end()) return *found;
  std::vector<std::string_view> known;
  for (const ParameterInfo& parameter : problem.parameters) known.push_back(parameter.name);
  fail(ErrorCode::invalid_option, "{} has no parameter \"{}\", expected one of {}{}", problem.id, name, join(known),
       suggestion(name, known));
}

std::string parameter_text(const ParameterInfo& parameter, double value) {
  if (parameter.choices.empty() || !is_allowed(parameter, value)) return shortest(value);
  return std::string(parameter.choices[static_cast<std::size_t>(value)]);
}

std::string parameter_range(const ParameterInfo& parameter) {
  if (!parameter.choices.empty()) return fmt::format("one of {}", join(parameter.choices));
  return fmt::format("a {}number in [{}, {}]", parameter.whole ? "whole " : "", shortest(parameter.lowest),
                     shortest(parameter.highest));
}

}  // namespace kqd
