#pragma once
#include <span>
#include <string>

#include "experiments/study.hpp"
#include "experiments/study_results.hpp"

namespace kqd::lab {

/// The rows that ids name, all for none. Throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] std::vector<std::size_t> chosen_rows(const Study& study, std::span<const std::string> ids);

/// Runs what the results lack of the chosen rows and keeps them in the file, every few seconds and at the end, an early
/// one included: nothing finished is lost. Same numbers for any thread count. Throws what the tests throw, and
/// Error{interrupted}.
void run_study(const Study& study, std::span<const std::size_t> rows, Seed seed, ThreadCount threads,
               const std::string& path, StudyResults& results, const RunControl* control);

}  // namespace kqd::lab
