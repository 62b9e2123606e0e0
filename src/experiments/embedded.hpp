#pragma once
#include <string_view>

namespace kqd::lab {

/// The files of src/experiments/published, as they stand there.
[[nodiscard]] std::string_view paper_results_text();
[[nodiscard]] std::string_view fuse_results_text();
[[nodiscard]] std::string_view benchmark_results_text();
[[nodiscard]] std::string_view reference_stream_text();

}  // namespace kqd::lab
