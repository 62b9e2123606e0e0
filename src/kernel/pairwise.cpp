#include "kernel/pairwise.hpp"

#include <algorithm>
#include <utility>

#include "core/pool.hpp"
#include "core/vectors.hpp"
#include "simd/kernel_maps.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowBlock = 256;
// Columns that are centred and multiplied together: 256 x 512 doubles are 1 MB, which stays in the second-level cache.
constexpr std::size_t kDepthBlock = 512;
// A squared distance this small next to |x|^2 + |z|^2 has lost more than six of its sixteen digits.
constexpr double kCancelled = 1e-6;

Matrix<double> transposed(MatrixView<const double> a) {
  Matrix<double> result(a.cols(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.cols(); ++j) result(j, i) = a(i, j);
  }
  return result;
}

// Some columns, each divided by its scale.
Matrix<double> scaled_columns(MatrixView<const double> rows, std::span<const std::size_t> columns,
                              std::span<const double> scales) {
  Matrix<double> result(rows.rows(), columns.size());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) result(i, k) = rows(i, columns[k]) / scales[k];
  }
  return result;
}

}  // namespace

PairwiseBlock::PairwiseBlock(PairQuantity quantity, MatrixView<const double> z, std::span<const double> column_scales)
    : quantity_(quantity), num_points_(z.rows()) {
  if (quantity == PairQuantity::mixed_distance) {
    parts_.resize(2);
    for (std::size_t c = 0; c < column_scales.size(); ++c) {
      Part& part = parts_[column_scales[c] < 0.0 ? 1 : 0];
      part.columns.push_back(c);
      part.scales.push_back(column_scales[c]);
    }
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      part_blocks_.emplace_back(k == 0 ? PairQuantity::squared_distance : PairQuantity::l1_distance,
                                scaled_columns(z, parts_[k].columns, parts_[k].scales));
    }
    return;
  }
  z_ = Matrix<double>(z);
  const bool by_differences =
      quantity == PairQuantity::l1_distance || (quantity == PairQuantity::squared_distance && z.cols() <= kDirectDim);
  if (by_differences) {
    z_columns_ = transposed(z);
    return;
  }
  if (quantity == PairQuantity::squared_distance) {
    origin_ = pooled_mean({z, MatrixView<const double>(nullptr, 0, z.cols())});
    z_norms_.resize(z.rows());
    for (std::size_t j = 0; j < z.rows(); ++j) z_norms_[j] = simd::center(z.row(j), origin_, z_.row(j));
  }
  for (std::size_t k = 0; k < z.cols(); k += kDepthBlock) {
    const std::size_t depth = std::min(kDepthBlock, z.cols() - k);
    factors_.emplace_back(std::as_const(z_).view().column_range(k, depth), simd::Op::transpose);
  }
}

void PairwiseBlock::evaluate(MatrixView<const double> x, MatrixView<double> values) const {
  if (quantity_ == PairQuantity::mixed_distance) {
    evaluate_by_parts(x, values);
  } else if (quantity_ == PairQuantity::dot) {
    for (std::size_t part = 0; part < factors_.size(); ++part)
      add_products(x.column_range(part * kDepthBlock, factors_[part].rows()), part, values);
  } else if (!z_columns_.empty()) {
    evaluate_by_differences(x, values);
  } else {
    evaluate_by_products(x, values);
  }
}

void PairwiseBlock::evaluate_by_parts(MatrixView<const double> x, MatrixView<double> values) const {
  Matrix<double> own(std::min(kRowBlock, x.rows()), values.cols());
  for (std::size_t first = 0; first < x.rows(); first += kRowBlock) {
    const std::size_t rows = std::min(kRowBlock, x.rows() - first);
    const auto block = values.row_range(first, rows);
    for (std::size_t i = 0; i < rows; ++i) std::ranges::fill(block.row(i), 0.0);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k].columns.empty()) continue;
      const auto part = own.view().row_range(0, rows);
      part_blocks_[k].evaluate(scaled_columns(x.row_range(first, rows), parts_[k].columns, parts_[k].scales), part);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < block.cols(); ++j) block(i, j) += part(i, j);
      }
    }
  }
}

void PairwiseBlock::add_products(MatrixView<const double> x, std::size_t part, MatrixView<double> values) const {
  simd::multiply(x, simd::Op::none, factors_[part], values, part == 0 ? simd::Into::overwrite : simd::Into::add);
}

void PairwiseBlock::evaluate_by_differences(MatrixView<const double> x, MatrixView<double> values) const {
  const auto measure = quantity_ == PairQuantity::l1_distance ? simd::l1_distances : simd::squared_distances;
  measure(x, z_columns_, values);
}

void PairwiseBlock::evaluate_by_products(MatrixView<const double> x, MatrixView<double> values) const {
  const std::size_t dim = x.cols();
  Matrix<double> centred(std::min(kRowBlock, x.rows()), std::min(kDepthBlock, dim));
  std::vector<double> x_norms(centred.rows());
  std::vector<double> moved(dim);
  for (std::size_t first = 0; first < x.rows(); first += kRowBlock) {
    const std::size_t rows = std::min(kRowBlock, x.rows() - first);
    const auto block = values.row_range(first, rows);
    std::ranges::fill(x_norms, 0.0);
    for (std::size_t k = 0; k < dim; k += kDepthBlock) {
      const std::size_t depth = std::min(kDepthBlock, dim - k);
      const MatrixView<double> part = centred.view().row_range(0, rows).column_range(0, depth);
      const auto origin = std::span(origin_).subspan(k, depth);
      for (std::size_t i = 0; i < rows; ++i) {
        x_norms[i] += simd::center(x.row(first + i).subspan(k, depth), origin, part.row(i));
      }
      add_products(part, k / kDepthBlock, block);
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = block.row(i);
      if (simd::distances_from_dots(x_norms[i], z_norms_, row) >= kCancelled) continue;
      simd::center(x.row(first + i), origin_, moved);
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (row[j] < kCancelled * (x_norms[i] + z_norms_[j])) row[j] = squared_distance(moved, z_.row(j));
      }
    }
  }
}

}  // namespace kqd
