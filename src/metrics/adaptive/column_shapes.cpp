#include "metrics/adaptive/column_shapes.hpp"

#include <algorithm>

#include "core/executor.hpp"
#include "metrics/adaptive/relations.hpp"
#include "simd/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumCells = 256;

// Ascending order statistics of a column at equal steps of its ranks.
std::vector<double> knots_of(const Pool& rows, std::size_t column, const MissingMarks& marks) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!marks.missing(rows.row(i), column)) values.push_back(rows.row(i)[column]);
  }
  if (values.empty()) values.push_back(0.0);
  simd::sort_ascending(values);
  std::vector<double> knots(kNumCells + 1);
  for (std::size_t k = 0; k <= kNumCells; ++k) knots[k] = values[k * (values.size() - 1) / kNumCells];
  return knots;
}

}  // namespace

RankPolynomials column_shapes(const Pool& rows, const std::vector<std::size_t>& columns, const MissingMarks& marks,
                              std::size_t degree, ThreadCount threads) {
  RankPolynomials made{columns, Matrix<double>(columns.size(), kNumCells + 1), degree, marks};
  parallel_for_blocks(columns.size(), 1, threads, [&](std::size_t k, std::size_t) {
    std::ranges::copy(knots_of(rows, columns[k], marks), made.knots.row(k).begin());
  });
  if (marks.any()) made.centres = means_where_known(FunctionSet{{}, made}, rows);
  return made;
}

}  // namespace kqd
