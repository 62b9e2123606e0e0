#pragma once
#include <string>

#include "experiments/study.hpp"
#include "experiments/study_results.hpp"

namespace kqd::lab {

/// A title, a table of rates with published ones in brackets, and how well both agree: Markdown.
[[nodiscard]] std::string study_markdown(const Study& study, const StudyResults& results);

/// The rates with their intervals as curves, published ones as hollow marks: SVG.
[[nodiscard]] std::string study_figure(const Study& study, const StudyResults& results);

}  // namespace kqd::lab
