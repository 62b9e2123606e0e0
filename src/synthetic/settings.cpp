#include "synthetic/settings.hpp"

#include <limits>

#include "core/fail.hpp"

namespace kqd {
namespace {

void refuse_empty_sample(std::string_view field, std::size_t num_rows) {
  if (num_rows == 0) fail_option(field, 0, "at least 1");
}

std::string dimension_range(const ProblemInfo& problem) {
  if (problem.lowest_dim == problem.highest_dim) return fmt::format("{}", problem.lowest_dim);
  if (problem.highest_dim == std::numeric_limits<std::size_t>::max()) return fmt::format(">= {}", problem.lowest_dim);
  return fmt::format("{} to {}", problem.lowest_dim, problem.highest_dim);
}

std::size_t checked_dim(const ProblemInfo& problem, std::size_t dim) {
  if (dim == 0) return problem.default_dim;
  if (dim < problem.lowest_dim || dim > problem.highest_dim) {
    fail_at(ErrorCode::invalid_option, problem.id, fmt::format("dim = {}", dim), dimension_range(problem));
  }
  return dim;
}

}  // namespace

ProblemSettings::ProblemSettings(const ProblemInfo& problem, const ProblemRequest& request)
    : problem_(&problem),
      request_(&request),
      dim_(checked_dim(problem, request.dim)),
      parameters_(problem.id, problem.parameters, request.parameters) {
  refuse_empty_sample("n_x", request.n_x);
  refuse_empty_sample("n_y", request.n_y);
}

std::size_t ProblemSettings::count_of_coordinates(std::string_view parameter) const {
  const std::size_t wanted = count(parameter);
  if (wanted > dim_) {
    fail_at(ErrorCode::invalid_option, problem_->id, fmt::format("{} = {}", parameter, wanted),
            fmt::format("at most dim = {}", dim_));
  }
  return wanted;
}

bool ProblemSettings::is_given(std::string_view parameter) const {
  return request_->parameters.contains(std::string(parameter));
}

void ProblemSettings::derive_dim(std::size_t dim, std::string_view formula) {
  if (request_->dim != 0 && request_->dim != dim) {
    fail_at(ErrorCode::invalid_option, problem_->id, fmt::format("dim = {}", request_->dim),
            fmt::format("{} = {}", formula, dim));
  }
  dim_ = dim;
}

RandomStream ProblemSettings::run_stream() const {
  constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();
  return {request_->seed, Purpose::synthetic_x, kNoRow};
}

}  // namespace kqd
