#include "metrics/adaptive/column_shapes.hpp"

#include <algorithm>
#include <memory>
#include <utility>

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

// The rank of a value in [-1, 1]: the middle of its equals, between two knots by interpolation.
double rank_of(double value, const std::vector<double>& knots) {
  const auto [first, last] = std::ranges::equal_range(knots, value);
  const auto below = static_cast<double>(first - knots.begin());
  double rank = 0.0;
  if (first != last) {
    rank = (below + static_cast<double>(last - knots.begin()) - 1.0) / 2.0;
  } else {
    const double low = *(first - 1);
    rank = below - 1.0 + (value - low) / (*first - low);
  }
  return 2.0 * rank / static_cast<double>(kNumCells) - 1.0;
}

}  // namespace

MeanFeatures column_shapes(const Pool& rows, const std::vector<std::size_t>& columns, std::size_t degree,
                           ThreadCount threads) {
  auto knots = std::make_shared<std::vector<std::vector<double>>>(columns.size());
  parallel_for_blocks(columns.size(), 1, threads,
                      [&](std::size_t k, std::size_t) { (*knots)[k] = knots_of(rows, columns[k]); });
  const auto evaluate = [knots, columns, degree](MatrixView<const double> points, MatrixView<double> values,
                                                 MatrixView<double> sizes) {
    for (std::size_t i = 0; i < points.rows(); ++i) {
      const auto row = values.row(i);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const double u = rank_of(points(i, columns[c]), (*knots)[c]);
        double before = 1.0;
        double current = u;
        for (std::size_t k = 1; k <= degree; ++k) {
          row[c * degree + k - 1] = current;
          const auto order = static_cast<double>(k);
          before = std::exchange(current, ((2.0 * order + 1.0) * u * current - order * before) / (order + 1.0));
        }
      }
      if (sizes.rows() > 0) std::ranges::fill(sizes.row(i), 1.0);  // |P_k| <= 1
    }
  };
  return {.name = "shapes of single columns",
          .count = degree * columns.size(),
          .evaluate = evaluate,
          .statistics = {MeanSummary::largest},
          .group_size = degree};
}

}  // namespace kqd
