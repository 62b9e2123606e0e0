#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/matrix_view.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {

/// The quantity of two points that a kernel is a function of.
enum class PairQuantity {
  dot,
  squared_distance,
  l1_distance,
  mixed_distance,  ///< by columns: squares of scaled differences, or their size, as KernelSpec::column_scales says
};

/// Fixed points z_1..z_m, prepared once, against which blocks of rows x are measured: values(i, j) = quantity(x_i,
/// z_j).
///
/// Inner products are matrix products. So are squared distances above kDirectDim columns, as |x|^2 + |z|^2 - 2 x.z
/// after both have been moved by the mean of z, with pairs that nearly coincide computed again from their difference:
/// there the subtraction has lost the digits. In few dimensions the differences themselves are cheaper and exact.
class PairwiseBlock {
 public:
  /// `column_scales`: of the mixed distance.
  PairwiseBlock(PairQuantity quantity, MatrixView<const double> z, std::span<const double> column_scales = {});

  [[nodiscard]] std::size_t num_points() const { return num_points_; }

  /// Any number of rows, on the calling thread. Each row has the same values whatever rows come with it.
  void evaluate(MatrixView<const double> x, MatrixView<double> values) const;

 private:
  // values += x z', or values = x z' for the first part of the columns.
  void add_products(MatrixView<const double> x, std::size_t part, MatrixView<double> values) const;
  void evaluate_by_differences(MatrixView<const double> x, MatrixView<double> values) const;
  void evaluate_by_products(MatrixView<const double> x, MatrixView<double> values) const;
  void evaluate_by_parts(MatrixView<const double> x, MatrixView<double> values) const;

  static constexpr std::size_t kDirectDim = 32;

  // Columns of a mixed distance that are measured alike.
  struct Part {
    std::vector<std::size_t> columns;
    std::vector<double> scales;
  };

  PairQuantity quantity_;
  std::size_t num_points_;
  std::vector<Part> parts_;
  std::vector<PairwiseBlock> part_blocks_;
  Matrix<double> z_;                                 // as given, or moved by origin_ when distances go through products
  Matrix<double> z_columns_;                         // transposed, for evaluation by differences
  std::vector<simd::PackedFactor<double>> factors_;  // z_ by parts of its columns, for evaluation by products
  std::vector<double> origin_;
  std::vector<double> z_norms_;
};

}  // namespace kqd
