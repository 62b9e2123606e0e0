#pragma once
#include <string_view>

namespace kqd::lab {

/// The texts of the files in experiments/published.
[[nodiscard]] std::string_view paper_results_text();
[[nodiscard]] std::string_view fuse_results_text();
[[nodiscard]] std::string_view benchmark_results_text();
[[nodiscard]] std::string_view reference_stream_text();

}  // namespace kqd::lab
