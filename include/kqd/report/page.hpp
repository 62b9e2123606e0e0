#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/report/report.hpp"

namespace kqd KQD_PUBLIC {

/// What a page shows next to a result.
struct PageInfo {
  std::string command = {};                     ///< that makes the page again, as a shell takes it; empty: none
  std::optional<Explanation> explanation = {};  ///< where the samples differ; none: left out
  std::string explanation_note = {};            ///< why there is none; empty: nobody asked for it
};

/// The report as a page: one HTML file that needs no network and no file next to it. Names and values of the data are
/// shown as text whatever they look like, and the page's own policy lets no script run but its own.
///
/// Null distributions of more than 2000 values are thinned evenly by rank, and the page says so. They are shown when
/// TestOptions::keep_null_distribution was set.
[[nodiscard]] std::string test_page(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run,
                                    const PageInfo& info = {});
[[nodiscard]] std::string distance_page(const DistanceResult& result, const MethodOptions& options, const RunInfo& run,
                                        const PageInfo& info = {});
/// With heat map, dendrogram (average linkage) and the nearest pairs.
[[nodiscard]] std::string matrix_page(const MatrixReport& report, const PageInfo& info = {});

/// The page around a JSON object of schema "kqd.report/1", for callers that make their own.
[[nodiscard]] std::string report_page(std::string_view report_json);

/// The values as they are if they are no more than 2000, else so many of them, evenly by rank, with both ends.
[[nodiscard]] std::vector<double> thinned_by_rank(std::vector<double> values);

}  // namespace kqd
