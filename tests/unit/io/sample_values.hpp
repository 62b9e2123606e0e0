#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"

namespace kqd {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

/// The points of a sample, row by row.
inline Values values_of(const Sample& sample) {
  return {sample.points.values().begin(), sample.points.values().end()};
}

}  // namespace kqd
