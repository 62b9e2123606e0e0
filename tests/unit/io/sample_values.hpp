#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/io/read.hpp"

namespace kqd {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

/// The points of a sample, row by row.
inline Values values_of(const Sample& sample) {
  return {sample.points.values().begin(), sample.points.values().end()};
}

/// The options without inference: texts and missing values are refused unless the options say otherwise.
inline ReadOptions strict(ReadOptions options) {
  if (options.categorical == Categorical::automatic) options.categorical = Categorical::raise;
  if (options.na == NaPolicy::indicator) options.na = NaPolicy::raise;
  return options;
}

}  // namespace kqd
