#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// Content of a page besides the result.
struct PageInfo {
  std::string command = {};                     ///< repeats the run, quoted for a shell; empty: none
  std::optional<Explanation> explanation = {};  ///< where the samples differ, if known
  std::string explanation_note = {};            ///< why there is none; empty: not requested
};

/// The report as a page: one HTML file that needs no network and no other file. Names and values of the data are
/// shown as text, and the page's content security policy allows only its own script.
///
/// Null distributions of more than 2000 values are thinned evenly by rank, and the page says so. They are shown when
/// TestOptions::keep_null_distribution was set.
[[nodiscard]] std::string test_page(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                                    const PageInfo& info = {});
[[nodiscard]] std::string distance_page(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                                        const PageInfo& info = {});
/// With heat map, dendrogram (average linkage) and the nearest pairs.
[[nodiscard]] std::string matrix_page(const MatrixReport& report, const PageInfo& info = {});

/// The page around a JSON object of schema "kqd.report/2", for callers that make their own.
[[nodiscard]] std::string report_page(std::string_view report_json);

/// All values if there are at most 2000, else 2000 of them, evenly by rank, including both ends.
[[nodiscard]] std::vector<double> thinned_by_rank(std::vector<double> values);

}  // namespace kqd
