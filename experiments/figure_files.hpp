#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/chart.hpp"
#include "experiments/experiments.hpp"

namespace kqd::lab {

/// Writes a figure to the folder of the options: SVG, JSON with `facts` and all drawn points, so that it can be drawn
/// by other means, and the table, if there is one, as Markdown.
[[nodiscard]] ExperimentReport write_figure(std::string_view id, const ExperimentOptions& options,
                                            const std::vector<ChartPanel>& panels, const nlohmann::ordered_json& facts,
                                            const std::string& table = "");

}  // namespace kqd::lab
