#include "metrics/quantile/partial_cholesky.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

Matrix<double> first_columns(const Matrix<double>& matrix, std::size_t count) {
  return Matrix<double>(matrix.view().column_range(0, count));
}

}  // namespace

PartialCholesky partial_cholesky(const Kernel& kernel, MatrixView<const double> points,
                                 std::span<const std::size_t> blocks, std::size_t max_rank, double tolerance,
                                 ThreadCount threads) {
  const std::size_t n = points.rows();
  const std::size_t limit = std::min(max_rank, n);
  std::vector<double> rest(n);
  kernel.diagonal(points, rest);
  const double trace = sum(rest);
  require_finite(trace, "the kernel");
  const double smallest = tolerance * *std::ranges::max_element(rest);

  PartialCholesky result;
  Matrix<double> features(n, limit);
  Matrix<double> column(n, 1);
  while (result.pivots.size() < limit) {
    const auto worst = std::ranges::max_element(rest);
    if (!(*worst > smallest)) break;
    const auto pivot = static_cast<std::size_t>(worst - rest.begin());
    const std::size_t rank = result.pivots.size();
    // Column of the rest: k(z_i, z_pivot) - phi_i . phi_pivot. The pivot's own entry is made in the same way as all
    // others, so that a row equal to it gets the same features to the last bit.
    const KernelBlock kernel_column(kernel, points.row_range(pivot, 1));
    const auto known = features.view().column_range(0, rank);
    parallel_for_blocks(blocks.size() - 1, 1, threads, [&](std::size_t b, std::size_t) {
      const std::size_t rows = blocks[b + 1] - blocks[b];
      const auto values = column.view().row_range(blocks[b], rows);
      kernel_column.evaluate(points.row_range(blocks[b], rows), values);
      if (rank == 0) return;
      std::vector<double> products(rows);
      simd::multiply(known.row_range(blocks[b], rows), simd::Op::none, known.row(pivot), products);
      for (std::size_t i = 0; i < rows; ++i) values(i, 0) -= products[i];
    });
    const double square = column(pivot, 0);
    rest[pivot] = 0.0;
    if (!(square > smallest)) continue;  // rounding only had left something there
    const double root = std::sqrt(square);
    for (std::size_t i = 0; i < n; ++i) {
      features(i, rank) = column(i, 0) / root;
      if (i != pivot) rest[i] = std::max(0.0, rest[i] - features(i, rank) * features(i, rank));
    }
    result.pivots.push_back(pivot);
  }
  result.features = first_columns(features, result.pivots.size());
  result.residual = trace > 0.0 ? sum(rest) / trace : 0.0;
  return result;
}

std::vector<double> PartialCholesky::coefficients(std::span<const double> w) const {
  // Rows of the pivots are a lower triangular L with phi(x) = L^-1 k(z, x), so c = L^-T w.
  std::vector<double> c(w.begin(), w.end());
  for (std::size_t a = c.size(); a-- > 0;) {
    for (std::size_t b = a + 1; b < c.size(); ++b) c[a] -= features(pivots[b], a) * c[b];
    c[a] /= features(pivots[a], a);
  }
  return c;
}

}  // namespace kqd
