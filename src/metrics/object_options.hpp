#pragma once
#include <string_view>

#include "kqd/metrics/methods.hpp"

namespace kqd {

/// Throws Error{invalid_option} for a method that needs columns, which objects do not have. `kernel` is the name of
/// their kernel.
void require_takes_objects(const MethodInfo& method, std::string_view kernel);

/// Directions through objects: reference points are drawn from the pool, since there are no others. Throws
/// Error{invalid_option} for directions or reference points that need columns.
void adapt_to_objects(std::string_view kernel, DirectionOptions& directions);

/// The options for samples of objects, if their kernel is one of objects: both of the above.
[[nodiscard]] MethodOptions adapted_to_objects(const MethodInfo& method, const MethodOptions& options);

}  // namespace kqd
