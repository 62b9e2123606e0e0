#pragma once
#include <string>
#include <vector>

#include "io/roles.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/preparation.hpp"

namespace kqd {

// Changes of columns by statistics of the pool: all samples together, each row of a weight above 0 counted once. They
// do not depend on labels, so a test that permutes the rows stays exact.

/// Fills missing values in by the median of their column. `source` starts the sentence of Error{empty_sample}: a column
/// without any value.
void impute_medians(std::vector<Sample>& samples, const std::string& source);

/// Brings columns to one scale; constant ones become 0. Columns with an interquartile range of 0 that are not constant
/// are scaled by its substitute (see robust_range), and a note lists them. Returns how each column was standardised;
/// empty: none was.
std::vector<ColumnUnits> standardize(std::vector<Sample>& samples, Standardize kind, Warnings& notes);

/// Columns with whole numbers that are not doubles, such as ids and nanoseconds: the smallest number of all inputs is
/// subtracted from them, in whole numbers, and the differences are doubles. Cells have passed check_cells(). `pooled`
/// means that all samples are given; only then is there something to subtract. Returns what was subtracted from the
/// column of units; empty: nothing.
///
/// Throws Error{unreadable_input} with the first such number where that is not possible: other numbers of the column
/// have fractions or are 2^53 or more away, or are texts.
[[nodiscard]] std::string offset_large_wholes(std::vector<Input>& inputs, bool pooled, Preparation& preparation);

/// The whole number of 64 bits that is `difference` >= 0 above another, which is given by its digits.
[[nodiscard]] std::string sum_of_wholes(std::string_view offset, double difference);

/// Throws the same for a group column with such a number: groups are shown and distinguished by their doubles.
void refuse_rounded_groups(std::vector<Input>& inputs);

}  // namespace kqd
