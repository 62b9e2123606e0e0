#pragma once
#include <span>
#include <string>

#include "experiments/study.hpp"
#include "experiments/study_results.hpp"

namespace kqd::lab {

/// The rows with these ids; all rows if there are no ids. Throws Error{invalid_option} with a suggestion.
[[nodiscard]] std::vector<std::size_t> chosen_rows(const Study& study, std::span<const std::string> ids);

/// Runs what is missing in the chosen rows. Results are saved every few seconds and at the end, also after an error, so
/// that no finished run is lost. Same numbers for any thread count. Throws what the tests throw, and
/// Error{interrupted}.
void run_study(const Study& study, std::span<const std::size_t> rows, Seed seed, ThreadCount threads,
               const std::string& path, StudyResults& results, const RunControl* control);

}  // namespace kqd::lab
