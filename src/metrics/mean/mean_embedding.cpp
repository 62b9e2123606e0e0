#include "metrics/mean/mean_embedding.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsAndColumns = 256;

// With offsets o the terms are (k(x_i, y_j) - o_i - o_j)^2 instead of k(x_i, y_j).
struct WeightedPoints {
  MatrixView<const double> points;
  std::span<const double> weights;
  std::span<const double> offsets = {};

  [[nodiscard]] std::size_t num_tiles() const { return (points.rows() + kRowsAndColumns - 1) / kRowsAndColumns; }
  [[nodiscard]] WeightedPoints tile(std::size_t i) const {
    const std::size_t rows = std::min(kRowsAndColumns, points.rows() - i * kRowsAndColumns);
    return {points.row_range(i * kRowsAndColumns, rows), weights.subspan(i * kRowsAndColumns, rows),
            offsets.empty() ? offsets : offsets.subspan(i * kRowsAndColumns, rows)};
  }
};

// One tile of points as columns of the Gram matrix, against which tiles of rows are summed.
class TileColumn {
 public:
  TileColumn(const Kernel& kernel, const WeightedPoints& columns)
      : block_(kernel, columns.points),
        weights_(columns.weights),
        offsets_(columns.offsets),
        values_(kRowsAndColumns, columns.points.rows()) {}

  // sum_ij a_i b_j k(x_i, y_j) over the rows x, rows added first.
  double sum(const WeightedPoints& rows) {
    const auto values = values_.view().row_range(0, rows.points.rows());
    block_.evaluate(rows.points, values);
    CompensatedSum total;
    for (std::size_t i = 0; i < values.rows(); ++i) {
      const auto row = values.row(i);
      if (!offsets_.empty()) square_centred(rows.offsets[i], row);
      double row_sum = 0.0;
      for (std::size_t j = 0; j < row.size(); ++j) row_sum += weights_[j] * row[j];
      total.add(rows.weights[i] * row_sum);
    }
    return total.value();
  }

 private:
  void square_centred(double offset, std::span<double> row) const {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double centred = row[j] - (offset + offsets_[j]);
      row[j] = centred * centred;
    }
  }

  KernelBlock block_;
  std::span<const double> weights_;
  std::span<const double> offsets_;
  Matrix<double> values_;
};

// The sum of part(j) over column tiles j < num_tiles: one task each, added in order.
template <class Part>
double sum_over_columns(std::size_t num_tiles, ThreadCount threads, const Part& part) {
  std::vector<double> parts(num_tiles);
  parallel_for_blocks(num_tiles, 1, threads, [&](std::size_t j, std::size_t) { parts[j] = part(j); });
  return sum(parts);
}

// <mu_P, mu_P>: the Gram matrix is symmetric, so tiles below the diagonal count twice.
double own_sum(const Kernel& kernel, const WeightedPoints& x, ThreadCount threads) {
  return sum_over_columns(x.num_tiles(), threads, [&](std::size_t j) {
    TileColumn column(kernel, x.tile(j));
    CompensatedSum total;
    total.add(column.sum(x.tile(j)));
    for (std::size_t i = j + 1; i < x.num_tiles(); ++i) total.add(2.0 * column.sum(x.tile(i)));
    return total.value();
  });
}

// <mu_P, mu_Q>, with the tile (i, j) of X against Y below the diagonal paired with (i, j) of Y against X: where own_sum
// counts a tile twice this adds two, so that for equal samples all three sums of an MMD agree to the last bit.
double cross_sum(const Kernel& kernel, const WeightedPoints& x, const WeightedPoints& y, ThreadCount threads) {
  const std::size_t num_tiles = std::max(x.num_tiles(), y.num_tiles());
  return sum_over_columns(num_tiles, threads, [&](std::size_t j) {
    std::optional<TileColumn> x_column;
    std::optional<TileColumn> y_column;
    if (j < x.num_tiles() && j + 1 < y.num_tiles()) x_column.emplace(kernel, x.tile(j));
    if (j < y.num_tiles() && j < x.num_tiles()) y_column.emplace(kernel, y.tile(j));
    CompensatedSum total;
    if (y_column) total.add(y_column->sum(x.tile(j)));
    for (std::size_t i = j + 1; i < num_tiles; ++i) {
      const double x_by_y = y_column && i < x.num_tiles() ? y_column->sum(x.tile(i)) : 0.0;
      const double y_by_x = x_column && i < y.num_tiles() ? x_column->sum(y.tile(i)) : 0.0;
      total.add(x_by_y + y_by_x);
    }
    return total.value();
  });
}

// mu(z_i) = sum_j a_j k(z_i, x_j) at every point z_i.
std::vector<double> mean_function(const Kernel& kernel, const WeightedPoints& x, MatrixView<const double> points,
                                  ThreadCount threads) {
  std::vector<double> means(points.rows());
  parallel_for_blocks(points.rows(), kRowsAndColumns, threads, [&](std::size_t begin, std::size_t end) {
    const KernelBlock block(kernel, points.row_range(begin, end - begin));
    Matrix<double> values(kRowsAndColumns, end - begin);
    std::vector<CompensatedSum> sums(end - begin);
    for (std::size_t t = 0; t < x.num_tiles(); ++t) {
      const WeightedPoints tile = x.tile(t);
      const auto here = values.view().row_range(0, tile.points.rows());
      block.evaluate(tile.points, here);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        double part = 0.0;
        for (std::size_t j = 0; j < here.rows(); ++j) part += tile.weights[j] * here(j, i);
        sums[i].add(part);
      }
    }
    for (std::size_t i = begin; i < end; ++i) means[i] = sums[i - begin].value();
  });
  return means;
}

double weighted_sum(std::span<const double> weights, std::span<const double> values) {
  CompensatedSum total;
  for (std::size_t i = 0; i < weights.size(); ++i) total.add(weights[i] * values[i]);
  return total.value();
}

}  // namespace

double mean_inner_product(const Kernel& kernel, MatrixView<const double> x, std::span<const double> a,
                          MatrixView<const double> y, std::span<const double> b, ThreadCount threads) {
  return cross_sum(kernel, {x, a}, {y, b}, threads);
}

MeanProducts mean_products(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads) {
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  const MeanProducts products{.xx = own_sum(kernel, {x.points, a}, threads),
                              .yy = own_sum(kernel, {y.points, b}, threads),
                              .xy = cross_sum(kernel, {x.points, a}, {y.points, b}, threads)};
  require_finite(products.xx + products.yy + products.xy, "the MMD");
  return products;
}

MeanProducts covariance_products(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads) {
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  const WeightedPoints p{x.points, a};
  const WeightedPoints q{y.points, b};
  std::vector<double> x_by_p = mean_function(kernel, p, x.points, threads);
  std::vector<double> x_by_q = mean_function(kernel, q, x.points, threads);
  std::vector<double> y_by_p = mean_function(kernel, p, y.points, threads);
  std::vector<double> y_by_q = mean_function(kernel, q, y.points, threads);
  // <phi(x) - mu_P, phi(y) - mu_Q> = k(x, y) - mu_Q(x) - mu_P(y) + <mu_P, mu_Q>; half of the last goes to either side.
  const auto move_by_half = [](double product, std::vector<double>& means) {
    for (double& mean : means) mean -= 0.5 * product;
  };
  const double pq = weighted_sum(a, x_by_q);
  move_by_half(weighted_sum(a, x_by_p), x_by_p);
  move_by_half(weighted_sum(b, y_by_q), y_by_q);
  move_by_half(pq, x_by_q);
  move_by_half(pq, y_by_p);
  const MeanProducts products{.xx = own_sum(kernel, {x.points, a, x_by_p}, threads),
                              .yy = own_sum(kernel, {y.points, b, y_by_q}, threads),
                              .xy = cross_sum(kernel, {x.points, a, x_by_q}, {y.points, b, y_by_p}, threads)};
  require_finite(products.xx + products.yy + products.xy, "the covariance distance");
  return products;
}

double mmd_v_squared(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads) {
  const MeanProducts products = mean_products(kernel, x, y, threads);
  return std::max(0.0, (products.xx - products.xy) + (products.yy - products.xy));
}

}  // namespace kqd
