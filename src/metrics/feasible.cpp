#include "metrics/feasible.hpp"

#include "core/fail.hpp"

namespace kqd {
namespace {

constexpr double kSecondsPerLabelledValue = 4.4e-11;  // added up for one permutation more
constexpr double kMaxSeconds = 300.0;
constexpr double kMaxSecondsWithoutShortcut = 3600.0;

}  // namespace

void require_feasible(std::size_t num_rows, std::size_t dim, bool allowed, std::string_view what) {
  const double seconds = seconds_of_labelled_gram(num_rows, dim, 0);
  if (allowed || seconds <= kMaxSeconds) return;
  const auto n = static_cast<double>(num_rows);
  fail(ErrorCode::resource_limit,
       "{} takes {:.2g} kernel values for {} rows, about {:.0f} minutes on one thread; {}, or a method whose "
       "cost is near-linear",
       what, 0.5 * n * n, num_rows, seconds / 60.0, kHowToAllow);
}

void require_feasible_test(std::size_t num_rows, std::size_t dim, std::size_t permutation_count, bool allowed,
                           std::string_view what) {
  require_feasible(num_rows, dim, allowed, what);
  require_feasible_seconds(seconds_of_labelled_gram(num_rows, dim, permutation_count), allowed,
                           fmt::format("{} under {} permutations", what, permutation_count));
}

void require_feasible_seconds(double seconds, bool allowed, std::string_view what) {
  if (allowed || seconds <= kMaxSecondsWithoutShortcut) return;
  fail(ErrorCode::resource_limit,
       "{} takes about {} on one thread; {}, fewer rows or permutations, or a method whose cost is near-linear", what,
       duration_text(seconds), kHowToAllow);
}

double seconds_of_labelled_gram(std::size_t num_rows, std::size_t dim, std::size_t permutation_count) {
  const auto n = static_cast<double>(num_rows);
  return 0.5 * n * n *
         (seconds_per_kernel_value(dim) + kSecondsPerLabelledValue * static_cast<double>(permutation_count));
}

std::string duration_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 7200.0) return fmt::format("{:.0f} minutes", seconds / 60.0);
  return fmt::format("{:.2g} hours", seconds / 3600.0);
}

}  // namespace kqd
