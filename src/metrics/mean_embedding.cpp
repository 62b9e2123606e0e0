#include "metrics/mean_embedding.hpp"

#include <algorithm>
#include <vector>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

constexpr std::size_t kTile = 256;

// sum_ij a_i b_j k(x_i, y_j) over one tile, rows added first.
double tile_sum(const KernelBlock& block, MatrixView<const double> x, std::span<const double> a,
                std::span<const double> b, MatrixView<double> values) {
  block.evaluate(x, values);
  CompensatedSum total;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = values.row(i);
    double row_sum = 0.0;
    for (std::size_t j = 0; j < row.size(); ++j) row_sum += b[j] * row[j];
    total.add(a[i] * row_sum);
  }
  return total.value();
}

// One task per column tile: the sum over its row tiles, from row `first_row(tile)` on, goes to a place of its own.
template <class FirstRow>
double tiled_sum(const Kernel& kernel, MatrixView<const double> x, std::span<const double> a,
                 MatrixView<const double> y, std::span<const double> b, ThreadCount threads, double below_diagonal,
                 const FirstRow& first_row) {
  std::vector<double> partial((y.rows() + kTile - 1) / kTile);
  parallel_for_blocks(y.rows(), kTile, threads, [&](std::size_t begin, std::size_t end) {
    const KernelBlock block(kernel, y.row_range(begin, end - begin));
    Matrix<double> values(std::min(kTile, x.rows()), end - begin);
    CompensatedSum total;
    for (std::size_t i = first_row(begin); i < x.rows(); i += kTile) {
      const std::size_t rows = std::min(kTile, x.rows() - i);
      const double tile = tile_sum(block, x.row_range(i, rows), a.subspan(i, rows), b.subspan(begin, end - begin),
                                   values.view().row_range(0, rows));
      total.add(i == begin ? tile : below_diagonal * tile);
    }
    partial[begin / kTile] = total.value();
  });
  return sum(partial);
}

}  // namespace

double mean_inner_product(const Kernel& kernel, MatrixView<const double> x, std::span<const double> a,
                          MatrixView<const double> y, std::span<const double> b, ThreadCount threads) {
  return tiled_sum(kernel, x, a, y, b, threads, 1.0, [](std::size_t) { return std::size_t{0}; });
}

MeanProducts mean_products(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads) {
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  // Within a sample the matrix is symmetric: tiles below the diagonal count twice.
  const auto own = [](std::size_t begin) { return begin; };
  return {.xx = tiled_sum(kernel, x.points, a, x.points, a, threads, 2.0, own),
          .yy = tiled_sum(kernel, y.points, b, y.points, b, threads, 2.0, own),
          .xy = mean_inner_product(kernel, x.points, a, y.points, b, threads)};
}

double mmd_v_squared(const Kernel& kernel, const SampleView& x, const SampleView& y, ThreadCount threads) {
  const MeanProducts products = mean_products(kernel, x, y, threads);
  return std::max(0.0, (products.xx - products.xy) + (products.yy - products.xy));
}

}  // namespace kqd
