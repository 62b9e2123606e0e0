#pragma once
#include <string>
#include <vector>

#include "kqd/core/sample.hpp"
#include "kqd/io/preparation.hpp"

namespace kqd {

// What is done to columns by numbers of the pool: all samples together, each row of a weight above 0 counted once. No
// label is looked at, so a test that relabels the rows stays exact.

/// Fills missing values in by the median of their column. `source` starts the sentence of Error{empty_sample}: a column
/// without any value.
void impute_medians(std::vector<Sample>& samples, const std::string& source);

/// Brings columns to one scale; constant ones become 0. Columns with an interquartile range of 0 that are not constant
/// are scaled by what stands for it (see robust_range), and a note tells which.
void standardize(std::vector<Sample>& samples, Standardize kind, std::vector<std::string>& notes);

}  // namespace kqd
