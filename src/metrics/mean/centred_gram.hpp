#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/kernel/kernel.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

/// The Gram matrix of a pool with the feature map moved by the (weighted) pooled mean, tile by tile. Tiles are
/// kept while all of them fit into 256 MB (16 MB below 32 columns, where they are cheap), else computed again. Then K w
/// = 0 for the weights w of the pooled rows.
class CentredGram {
 public:
  static constexpr std::size_t kTile = 256;

  /// One pass over the Gram matrix for its row means. `order`: position -> row of (X, Y). `pool` is copied, its samples
  /// are not: they must outlive this object.
  CentredGram(Kernel kernel, const TestPool& pool, std::vector<std::size_t> order, ThreadCount threads);

  [[nodiscard]] std::size_t size() const { return order_.size(); }
  [[nodiscard]] std::size_t num_tiles() const { return (size() + kTile - 1) / kTile; }
  /// Per position, the largest 1; empty when all are equal.
  [[nodiscard]] std::span<const double> weights() const { return weights_; }
  [[nodiscard]] double weight(std::size_t i) const { return weights_.empty() ? 1.0 : weights_[i]; }
  [[nodiscard]] double total_weight() const { return total_weight_; }
  /// sum_j w_j k(z_i, z_j) / W of the kernel as it was given.
  [[nodiscard]] std::span<const double> row_means() const { return row_means_; }
  /// The diagonal of the centred matrix.
  [[nodiscard]] std::span<const double> diagonal() const { return diagonal_; }
  /// A tile of the centred matrix; its first row and column are multiples of kTile.
  void tile(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const;
  /// The same, times the weights of row and column.
  void weighted_tile(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const;
  /// Multiplies a tile by the weights of its rows and columns.
  void apply_weights(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const;

 private:
  [[nodiscard]] double centred(double value, double row_mean, double column_mean) const;
  /// A kept tile on or right of the diagonal, which has rows x cols entries.
  [[nodiscard]] MatrixView<double> kept_tile(std::size_t first_row, std::size_t first_column);
  [[nodiscard]] MatrixView<const double> kept_tile(std::size_t first_row, std::size_t first_column) const;
  [[nodiscard]] Pool rows() const { return {x_.points, y_.points, order_}; }

  Kernel kernel_;
  SampleView x_;
  SampleView y_;
  std::vector<std::size_t> order_;
  std::vector<double> weights_;
  double total_weight_ = 0.0;
  std::vector<double> row_means_;
  double grand_mean_ = 0.0;
  std::vector<double> diagonal_;
  Matrix<double> kept_;  // tiles of the kernel as it was given, one per row; empty when too many
};

}  // namespace kqd
