#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/column_list.hpp"
#include "io/table.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/read.hpp"

namespace kqd {

/// Which columns of a table become what.
struct Roles {
  std::vector<std::size_t> points;  ///< in the order they shall have
  std::optional<std::size_t> weights;
  std::optional<std::size_t> unit;   ///< names the block or cluster of a row
  std::optional<std::size_t> group;  ///< names the sample of a row
};

/// A table on its way to a sample or two.
struct Input {
  Table table;
  Roles roles;
};

/// Assigns the roles of the columns of each input, and puts the points of the second in the order of the first.
/// Throws Error{invalid_option} for a column that is not there, Error{empty_sample} when none is left to compare,
/// Error{shape_mismatch} for columns that only one input has.
void assign_roles(std::vector<Input>& inputs, const ReadOptions& options, const std::string& group_column,
                  Warnings& notes);

}  // namespace kqd
