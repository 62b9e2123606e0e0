#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"

namespace kqd {

/// Masses as whole numbers, so that total supply and total demand are exactly equal.
struct WholeMasses {
  std::vector<std::int64_t> supply;
  std::vector<std::int64_t> demand;
  std::int64_t total = 0;
};

/// 1/nx per row against 1/ny per column, exactly: nx ny / gcd(nx, ny) units in all.
[[nodiscard]] WholeMasses uniform_masses(std::size_t nx, std::size_t ny);

/// Masses a and b of sum 1, rounded down to multiples of 2^-58; the remainder goes to the largest masses.
[[nodiscard]] WholeMasses rounded_masses(std::span<const double> a, std::span<const double> b);

struct TransportPlan {
  double cost = 0.0;         ///< sum of flow times cost, over the total mass
  double duality_gap = 0.0;  ///< how far above the optimum the cost may be, because costs are rounded
  std::size_t num_arcs = 0;  ///< pairs between which mass flows: at most nx + ny - 1
};

/// The cheapest transport from the supplies of the rows to the demands of the columns, by LEMON's network simplex
/// (block search). Costs >= 0 are rounded to whole multiples of 2^-44 of the largest one, so that rounding never
/// decides a pivot. Memory: about 100 bytes per pair.
[[nodiscard]] TransportPlan solve_transport(MatrixView<const double> costs, const WholeMasses& masses);

}  // namespace kqd
