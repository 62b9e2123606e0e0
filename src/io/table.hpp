#pragma once
#include <string>
#include <vector>

#include "io/blocked_rows.hpp"

namespace kqd {

/// What every reader returns, whatever the format: at least one row and one column of finite numbers, not yet said
/// which column plays which part.
struct Table {
  std::string source;                     ///< starts every message about the table
  std::vector<std::string> column_names;  ///< one per column, all different; empty: the file has none
  BlockedRows cells;
  std::vector<std::string> notes;  ///< sentences about choices the reader made that a user may want to undo
};

}  // namespace kqd
