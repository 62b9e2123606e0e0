#include "io/header_doubts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "core/warning.hpp"

namespace kqd {
namespace {

std::span<const double> row_of(Input& input, std::size_t index) {
  const std::size_t cols = input.table.cells.cols();
  const std::span<const double> first_rows = input.table.dropped.first_rows;
  if (index < first_rows.size() / cols) return first_rows.subspan(index * cols, cols);
  const MatrixView<double> block = input.table.cells.block(0);
  return index < block.rows() ? block.row(index) : std::span<const double>{};
}

// Tools that name columns by numbers write 0,1,2,... or 1,2,3,... in the first row.
bool counts_up(std::span<const double> row) {
  if (row.size() < 3 || (row[0] != 0.0 && row[0] != 1.0)) return false;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] != row[0] + static_cast<double>(j)) return false;
  }
  return true;
}

// Names of columns are usually different: equal numbers are data.
bool may_be_names(std::span<const double> row) {
  std::vector<double> sorted(row.begin(), row.end());
  std::ranges::sort(sorted);
  return std::ranges::none_of(row, [](double value) { return std::isnan(value); }) &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

// The first row of a file compared with the others: is_far when, in each column, it is further from all other values
// than ten times their range; is_unique when no other row equals it.
struct FirstRowAlone {
  bool is_far = false;
  bool is_unique = true;
};

FirstRowAlone compare_first_row(Input& input) {
  constexpr double kFar = 10.0;
  constexpr std::size_t kFewestRows = 5;
  const std::span<const double> first = row_of(input, 0);
  std::vector<double> low(first.size(), std::numeric_limits<double>::infinity());
  std::vector<double> high(first.size(), -std::numeric_limits<double>::infinity());
  FirstRowAlone found;
  std::size_t row = 0;
  for (std::size_t b = 0; b < input.table.cells.num_blocks(); ++b) {
    const MatrixView<double> block = input.table.cells.block(b);
    for (std::size_t i = 0; i < block.rows(); ++i, ++row) {
      if (input.table.number_of(row) == 0) continue;
      found.is_unique = found.is_unique && !std::ranges::equal(block.row(i), first);
      for (std::size_t j = 0; j < first.size(); ++j) {
        low[j] = std::fmin(low[j], block(i, j));
        high[j] = std::fmax(high[j], block(i, j));
      }
    }
  }
  found.is_far = input.table.cells.rows() > kFewestRows;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const double gap = std::max(low[j] - first[j], first[j] - high[j]);
    found.is_far = found.is_far && gap > kFar * (high[j] - low[j]);
  }
  return found;
}

}  // namespace

void warn_about_headers(std::vector<Input>& inputs, Warnings& warnings) {
  const auto is_undecided = [](const Input& input) {
    return input.table.undecided_header > 0 && input.table.rows_read() > 1;  // below a header there are rows
  };
  const auto same_row = [&](std::size_t index) {
    const std::span<const double> front = row_of(inputs.front(), index);
    return std::ranges::all_of(inputs, [&](Input& input) { return std::ranges::equal(row_of(input, index), front); });
  };
  // Files with more rows in common have data in common.
  const bool in_common = inputs.size() > 1 && std::ranges::all_of(inputs, is_undecided) && same_row(0) && !same_row(1);
  for (Input& input : inputs) {
    if (!is_undecided(input) || !may_be_names(row_of(input, 0))) continue;
    const FirstRowAlone only = compare_first_row(input);
    const auto add = [&](WarningId id) { warn(warnings, id, input.table.source, input.table.undecided_header); };
    if (counts_up(row_of(input, 0))) {
      add(WarningId::first_row_counts);
    } else if (in_common && only.is_unique) {
      add(WarningId::first_row_shared);
    } else if (only.is_far) {
      add(WarningId::first_row_far);
    }
  }
}

}  // namespace kqd
