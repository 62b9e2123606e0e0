#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kqd/core/parameters.hpp"
#include "kqd/core/sample.hpp"  // Sample
#include "kqd/core/types.hpp"   // Seed, ThreadCount
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Two distributions to draw samples from, as `kqd sample` lists them.
struct ProblemInfo {
  std::string_view id;
  std::string_view summary;         ///< one line
  std::string_view x_distribution;  ///< the distribution of a row of X, as a formula in the parameters
  std::string_view y_distribution;  ///< the distribution of a row of Y
  std::span<const ParameterInfo> parameters;
  std::size_t default_dim;
  std::size_t lowest_dim;
  std::size_t highest_dim;
  std::string_view reference;  ///< where it comes from
};

/// Every problem, in the order in which they are listed.
[[nodiscard]] std::span<const ProblemInfo> problems();

/// The problem with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const ProblemInfo& find_problem(std::string_view id);

/// Samples to draw. All fields but the name have a default.
struct ProblemRequest {
  std::string name;            ///< the id of a problem
  std::size_t n_x = 500;       ///< rows of X
  std::size_t n_y = 500;       ///< rows of Y
  std::size_t dim = 0;         ///< columns; 0: the default of the problem
  Parameters parameters = {};  ///< those not named keep their defaults
  Seed seed = {};
};

/// Takes over one setting as it is typed: "sd=1.6", "distribution=student". The last one of a name counts.
/// Throws Error{invalid_option} when request.name, the parameter or its value is unknown.
void set_parameter(ProblemRequest& request, std::string_view assignment);

/// Two samples of known distributions, and what they were drawn with.
struct SyntheticPair {
  Sample x;
  Sample y;
  Parameters parameters;  ///< every parameter: as asked, by default, or as drawn from the seed
};

/// Draws the two samples of a problem.
///
/// Row i of a sample is a function of the request's distribution and seed and of i only: more rows keep the first ones,
/// the size of one sample does not move the other, and the thread count changes nothing. What a problem draws once per
/// run (a scale, signs) follows from the seed too. Cost: O((n_x + n_y) dim). Throws Error{invalid_option} with field,
/// value and bound; Error{resource_limit} when the rows do not fit in memory.
[[nodiscard]] SyntheticPair make_problem(const ProblemRequest& request, ThreadCount threads = {});

}  // namespace kqd
