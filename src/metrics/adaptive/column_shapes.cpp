#include "metrics/adaptive/column_shapes.hpp"

#include <algorithm>

#include "core/executor.hpp"
#include "simd/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumCells = 256;

// Ascending order statistics of a column at equal steps of its ranks.
std::vector<double> knots_of(const Pool& rows, std::size_t column) {
  std::vector<double> values(rows.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rows.row(i)[column];
  simd::sort_ascending(values);
  std::vector<double> knots(kNumCells + 1);
  for (std::size_t k = 0; k <= kNumCells; ++k) knots[k] = values[k * (values.size() - 1) / kNumCells];
  return knots;
}

}  // namespace

RankPolynomials column_shapes(const Pool& rows, const std::vector<std::size_t>& columns, std::size_t degree,
                              ThreadCount threads) {
  RankPolynomials made{columns, Matrix<double>(columns.size(), kNumCells + 1), degree};
  parallel_for_blocks(columns.size(), 1, threads, [&](std::size_t k, std::size_t) {
    std::ranges::copy(knots_of(rows, columns[k]), made.knots.row(k).begin());
  });
  return made;
}

}  // namespace kqd
