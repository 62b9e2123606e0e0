#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/fail.hpp"

namespace kqd {

/// The end of a refusal that the caller may overrule.
inline constexpr std::string_view kHowToAllow = "use " KQD_OPTION("allow_quadratic=yes") " to run it";

/// Rough cost of one kernel value on one thread: a product of d numbers at 10 GFLOP/s and one exponential.
[[nodiscard]] constexpr double seconds_per_kernel_value(std::size_t dim) {
  return 4e-9 + 2e-10 * static_cast<double>(dim);
}

/// Throws Error{resource_limit} with an estimate when N^2 kernel values of dimension d would take minutes, unless
/// `allowed` (MethodOptions::allow_quadratic).
void require_feasible(std::size_t num_rows, std::size_t dim, bool allowed, std::string_view what);

/// The same for a test that adds such values up under so many permutations.
void require_feasible_test(std::size_t num_rows, std::size_t dim, std::size_t permutation_count, bool allowed,
                           std::string_view what);

/// The same for work that is estimated in seconds of one thread: refused above an hour. `what` is a noun phrase:
/// "exact transport between 4000 and 4000 rows, once for each of 1000 permutations".
void require_feasible_seconds(double seconds, bool allowed, std::string_view what);

/// Seconds of one thread for a matrix of kernel values that is added up under so many permutations.
[[nodiscard]] double seconds_of_labelled_gram(std::size_t num_rows, std::size_t dim, std::size_t permutation_count);

/// "40 seconds", "12 minutes", "3.4 hours".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace kqd
