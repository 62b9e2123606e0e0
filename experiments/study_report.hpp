#pragma once
#include <string>

#include "experiments/study.hpp"
#include "experiments/study_results.hpp"

namespace kqd::lab {

/// Title, table of rates with published rates in brackets, and agreement of both, in Markdown.
[[nodiscard]] std::string study_markdown(const Study& study, const StudyResults& results);

/// Rates with their confidence intervals as curves, and published rates as hollow markers, in SVG.
[[nodiscard]] std::string study_figure(const Study& study, const StudyResults& results);

}  // namespace kqd::lab
