#pragma once
#include <string>

#include "kqd/core/visibility.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// One JSON object with everything: schema "kqd.explain/1". Numbers that are there to be drawn (profiles, densities,
/// points, pictures) have six significant digits. Without names of files in `run`, what it says of the data is left
/// out.
[[nodiscard]] std::string explanation_json(const Explanation& explanation, const RunInfo& run = {});

/// How a statistician reads it: columns, levels, directions and rows, most telling first.
[[nodiscard]] std::string explanation_text(const Explanation& explanation, const RunInfo& run,
                                           const TextStyle& style = {});
[[nodiscard]] std::string explanation_markdown(const Explanation& explanation, const RunInfo& run);

/// A line of names, and a line per column, most telling first.
[[nodiscard]] std::string explanation_csv(const Explanation& explanation);

}  // namespace kqd
