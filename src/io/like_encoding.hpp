#pragma once
#include <string>
#include <vector>

#include "io/categorical.hpp"
#include "io/roles.hpp"
#include "io/rows.hpp"
#include "kqd/io/encoding.hpp"
#include "kqd/io/preparation.hpp"

namespace kqd {

/// Types that later cells have to be read by: what was a category is one again, also where all cells are numbers.
[[nodiscard]] std::vector<TypeRule> type_rules_of(const TableEncoding& encoding);

/// Assigns roles as assign_roles() does, with columns in the order of an encoding.
void assign_roles_like(const TableEncoding& encoding, std::vector<Input>& inputs, const ReadOptions& options,
                       Warnings& notes);

/// Takes the types of columns from an encoding, and leaves its columns as points. Throws Error{unreadable_input} for a
/// text in a column of numbers and Error{invalid_option} for columns of differences.
void take_types(const TableEncoding& encoding, std::vector<Input>& inputs, Preparation& preparation);

/// The encoders of all points, and warnings about texts and missing values that the encoding does not know.
[[nodiscard]] std::vector<ColumnEncoder> encoders_like(const TableEncoding& encoding, std::vector<Input>& inputs,
                                                       const RowPlan& rows, const ReadOptions& options,
                                                       Warnings& warnings);

/// Missing values become what the encoding says.
void fill_missing(const TableEncoding& encoding, std::vector<Sample>& samples);

/// The encoding that was just used. Samples have no missing values any more.
[[nodiscard]] TableEncoding encoding_of(const Input& front, const std::vector<ColumnEncoder>& encoders,
                                        const Preparation& preparation, std::vector<std::string> table_columns);
/// Sets the fillers of an encoding from the first sample, the baseline, so that they do not depend on the others.
void add_fillers(const std::vector<Sample>& samples, NaPolicy na, TableEncoding& encoding);

}  // namespace kqd
