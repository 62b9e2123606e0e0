#pragma once
#include <cstddef>
#include <vector>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// The cheapest assignment of each row to a column of its own, and the prices that prove it optimal.
struct Assignment {
  std::vector<std::size_t> column_of_row;
  std::vector<double> row_prices;     ///< u
  std::vector<double> column_prices;  ///< v: u_i + v_j <= c_ij everywhere
  double cost = 0.0;                  ///< sum of c over the pairs
  double largest_slack = 0.0;         ///< of c_ij - u_i - v_j over the pairs: 0 but for rounding
  double duality_gap = 0.0;           ///< cost - sum u - sum v >= 0: how far from the optimum the cost may be
};

/// Linear assignment by shortest augmenting paths after a reduction of rows and columns [JV87], for a square matrix of
/// finite costs. Cost: O(n^3) time at worst, O(n) memory besides the result.
/// Throws Error{internal} when complementary slackness is violated by more than 1e-9 of the largest cost.
[[nodiscard]] Assignment solve_assignment(MatrixView<const double> costs);

}  // namespace kqd
