#pragma once
#include <span>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix.hpp"
#include "kqd/core/types.hpp"
#include "metrics/test_pool.hpp"
#include "profile/grouped_rows.hpp"

namespace kqd {

/// The sums over one group that statistics use: over its rows, each of weight w (1 without weights), of the features
/// psi measured from their pooled mean c.
struct GroupSums {
  double weight = 0.0;               ///< sum w
  double square = 0.0;               ///< sum w^2
  double own = 0.0;                  ///< sum w^2 |psi|^2
  double trace = 0.0;                ///< sum w^2 c.psi
  std::span<const double> features;  ///< sum w psi_k
  std::span<const double> products;  ///< sum w psi_k psi_l for k <= l, row by row; empty unless requested

  /// sum a^2 for a = w / sum w: 1/n without weights.
  [[nodiscard]] double squared_shares() const { return square / (weight * weight); }
};

/// The number of products of features k <= l.
[[nodiscard]] constexpr std::size_t num_products(std::size_t num_features) {
  return num_features * (num_features + 1) / 2;
}

/// Features of pooled rows, computed once and measured from their (weighted) pooled mean: sums over a group then have
/// the size of the difference, and no digits are lost to a mean that both groups share.
class PooledFeatures {
 public:
  /// `order`: position -> row of (X, Y). With `products` sums also cover psi_k psi_l; they are made from the features
  /// block by block, so memory stays O(N F). Blocks of rows start at position 0 and again at `second_part`: what a
  /// product rounds to depends on a row's place in its block. Throws Error{non_finite_value}.
  PooledFeatures(const FeatureMap& map, const TestPool& pool, std::span<const std::size_t> order, bool products,
                 ThreadCount threads, std::size_t second_part = 0);

  /// The same of groups of rows: a position is a unit and its terms are sums over the rows of the unit, measured from
  /// the mean of the pilot rows, which no statistic of means and covariances feels. Memory is O(units columns).
  PooledFeatures(const FeatureMap& map, const GroupedRows& rows, bool products, ThreadCount threads);

  /// Positions of a permutation: rows or units.
  [[nodiscard]] std::size_t num_rows() const { return terms_.rows(); }
  /// Additions behind a term: none for a row.
  [[nodiscard]] std::size_t num_additions() const { return num_additions_; }
  [[nodiscard]] std::size_t num_features() const { return centre_.size(); }
  [[nodiscard]] bool weighted() const { return !weights_.empty(); }
  [[nodiscard]] std::span<const double> centre() const { return centre_; }
  /// sum w |psi|^2 / sum w: the variance of the pool in the space of the features.
  [[nodiscard]] double variance() const { return variance_; }
  /// Sums over the observed rows of X and of Y.
  [[nodiscard]] GroupSums observed_x() const { return as_groups(x_sums_); }
  [[nodiscard]] GroupSums observed_y() const { return as_groups(y_sums_); }
  /// Sums over all rows.
  [[nodiscard]] GroupSums all() const { return as_groups(total_); }

  /// Columns that are summed: the scalars of GroupSums, the features, and their products if requested.
  [[nodiscard]] std::size_t num_columns() const { return terms_.cols() + num_products_to_make_; }
  /// The terms that rows first .. first + block.rows() - 1 add to the columns.
  void copy_terms(std::size_t first, MatrixView<double> block) const;
  [[nodiscard]] std::span<const double> totals() const { return total_; }
  /// The summed columns as GroupSums.
  [[nodiscard]] GroupSums as_groups(std::span<const double> columns) const;

 private:
  void fill_terms(const FeatureMap& map, const Pool& rows, std::size_t first, std::size_t count, ThreadCount threads);
  void centre_features();
  template <class IsX>
  void add_up(const IsX& is_x);

  std::size_t num_products_to_make_ = 0;  // from the features, whenever terms are copied
  std::size_t num_additions_ = 0;
  std::vector<double> weights_;
  std::vector<double> centre_;
  Matrix<double> terms_;  // scalars, then features; of units also their products
  std::vector<double> x_sums_;
  std::vector<double> y_sums_;
  std::vector<double> total_;
  double variance_ = 0.0;
};

}  // namespace kqd
