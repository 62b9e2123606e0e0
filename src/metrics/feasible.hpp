#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace kqd {

/// Throws Error{resource_limit} with an estimate when N^2 kernel values of dimension d would take minutes, unless that
/// was allowed (--yes-quadratic).
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
