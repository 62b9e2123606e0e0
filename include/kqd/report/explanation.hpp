#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "kqd/core/visibility.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// One JSON object with everything: schema "kqd.explain/2". Numbers that are only drawn (profiles, densities, points,
/// images) have six significant digits. Without file names in `run`, the fields on the data are null.
[[nodiscard]] std::string explanation_json(const Explanation& explanation, const RunInfo& run = {});

/// Text for a terminal: changes in words, columns, relations, levels, directions and rows, largest difference first.
[[nodiscard]] std::string explanation_text(const Explanation& explanation, const RunInfo& run,
                                           const TextStyle& style = {});
[[nodiscard]] std::string explanation_markdown(const Explanation& explanation, const RunInfo& run);

/// A line of names and a line per column, largest difference first.
[[nodiscard]] std::string explanation_csv(const Explanation& explanation);

/// The scores of all rows by the witness, a line each: sample, row, score. `rows_x`, `rows_y`: the number of each row
/// in its file; empty: 1, 2, 3, ... Rows of weight 0 have no score and no line.
[[nodiscard]] std::string explanation_rows_csv(const Explanation& explanation, std::span<const std::size_t> rows_x = {},
                                               std::span<const std::size_t> rows_y = {});

}  // namespace kqd
