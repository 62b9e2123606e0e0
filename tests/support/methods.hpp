#pragma once
#include <string>
#include <utility>
#include <vector>

#include "kqd/metrics/methods.hpp"
#include "metrics/method.hpp"
#include "support/source.hpp"

namespace kqd::test {

inline MethodOptions options_with(const std::string& kernel, Parameters parameters = {}) {
  MethodOptions options;
  options.kernel = parse_kernel(kernel);
  options.parameters = std::move(parameters);
  return options;
}

/// False for a method that refuses weighted rows.
inline bool takes_weights(const MethodInfo& method) {
  if (!method.has_distance) return false;
  Sample weighted = column({0, 1, 3, 7});
  weighted.weights = {1, 2, 3, 4};
  try {
    static_cast<void>(method_with_id(method.id).distance(weighted, column({2, 4, 5, 9}), {}));
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_weights) return false;
    throw;
  }
}

}  // namespace kqd::test
