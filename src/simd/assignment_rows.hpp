#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace kqd::simd {

/// The smallest and second smallest entry of a row, and where they are; of equal ones the first counts as smaller.
struct TwoSmallest {
  double smallest = std::numeric_limits<double>::infinity();
  double second = std::numeric_limits<double>::infinity();
  std::size_t smallest_at = 0;
  std::size_t second_at = 0;
};

/// The two smallest of costs[j] - prices[j]. For a single column the second is infinity, at the same place.
[[nodiscard]] TwoSmallest two_smallest(std::span<const double> costs, std::span<const double> prices);

struct Nearest {
  double distance = std::numeric_limits<double>::infinity();
  std::size_t column = 0;
};

/// One step of Dijkstra's algorithm from a row of an assignment problem to its columns: where
/// offset + costs[j] - prices[j] + closed[j] is below distances[j], that becomes the distance, and `row` the row by
/// which column j is reached. Returns the nearest column that is open, the first of equally near ones. closed[j] is 0
/// for open columns and infinity for closed ones.
Nearest relax_columns(std::span<const double> costs, std::span<const double> prices, double offset, std::int64_t row,
                      std::span<const double> closed, std::span<double> distances, std::span<std::int64_t> reached_by);

}  // namespace kqd::simd
