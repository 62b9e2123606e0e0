#pragma once
#include <string>
#include <vector>

#include "kqd/directions/directions.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "metrics/quantile/over_directions.hpp"

namespace kqd {

/// The discrepancy of checked samples along directions that are there already; centered when result.mmd_squared is set.
void measure_along(KqdResult& result, const Directions& directions, const SampleView& x, const SampleView& y,
                   const KqdOptions& options, Over over);

}  // namespace kqd
