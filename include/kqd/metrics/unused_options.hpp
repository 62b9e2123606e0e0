#pragma once
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/metrics/methods.hpp"

namespace kqd KQD_PUBLIC {

/// The common options that change nothing for a method with these directions, as the command line calls them without
/// its dashes: "kernel", "num-directions", ... `own_points`: the reference points are the caller's own.
[[nodiscard]] std::vector<std::string_view> unused_options(const MethodInfo& method, DirectionFamily family,
                                                           bool own_points);

}  // namespace kqd
