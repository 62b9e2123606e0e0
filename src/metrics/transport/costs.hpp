#pragma once
#include <cstddef>
#include <span>

#include "core/pool.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"

namespace kqd {

/// The cost of moving a point: (|x - y| / unit)^power, Euclidean.
struct CostRule {
  double power = 1.0;
  double unit = 1.0;
};

/// costs(i, j) = cost between x_i and y_j, from differences of coordinates: it rounds the same wherever the pair
/// appears and whichever of its points comes first.
void fill_costs(MatrixView<const double> x, MatrixView<const double> y, const CostRule& rule, MatrixView<double> costs,
                ThreadCount threads);

/// The length of the diagonal of the pool's bounding box, 1 if that is 0: no distance is longer.
/// Throws Error{non_finite_value} when it overflows.
[[nodiscard]] double longest_distance(const Pool& pool);

/// The costs between all rows of a pool, for many permutations of it: kept when N^2 of them fit into 512 MB, else the
/// rows are kept and the costs of a permutation computed again.
class PooledCosts {
 public:
  PooledCosts(const Pool& pool, const CostRule& rule, ThreadCount threads);

  [[nodiscard]] bool stored() const { return !stored_.empty(); }
  /// All of them; empty unless stored.
  [[nodiscard]] MatrixView<const double> all() const { return stored_; }
  /// costs(i, j) = cost between the rows at positions x[i] and y[j], on the calling thread.
  void block(std::span<const std::size_t> x, std::span<const std::size_t> y, MatrixView<double> costs) const;

 private:
  CostRule rule_;
  Matrix<double> points_;
  Matrix<double> stored_;
};

}  // namespace kqd
