#pragma once
#include "kqd/report/report.hpp"
#include "report/fields.hpp"

namespace kqd {

/// What --json prints, before it is text.
[[nodiscard]] Json distance_object(const DistanceResult& result, const MethodOptions& options, const RunInfo& run);
[[nodiscard]] Json test_object(const TwoSampleResult& result, const TwoSampleOptions& options, const RunInfo& run);
[[nodiscard]] Json matrix_object(const MatrixReport& report);

}  // namespace kqd
