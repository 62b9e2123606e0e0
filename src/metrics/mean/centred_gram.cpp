#include "metrics/mean/centred_gram.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

// The number of kernel values that are kept for the second pass. With few columns a value is computed again in less
// time than it takes to store it in new memory, unless all values fit into the cache.
std::size_t most_kept(std::size_t dim) {
  constexpr std::size_t kManyColumns = 32;
  return dim < kManyColumns ? std::size_t{2} << 20U : std::size_t{32} << 20U;  // 16 or 256 MB of doubles
}

}  // namespace

CentredGram::CentredGram(Kernel kernel, const TestPool& pool, std::vector<std::size_t> order, ThreadCount threads)
    : kernel_(std::move(kernel)), x_(pool.x), y_(pool.y), order_(std::move(order)) {
  const std::size_t n = size();
  weights_ = pool.weights_of(order_);
  CompensatedSum total_weight;
  for (std::size_t i = 0; i < n; ++i) total_weight.add(weight(i));
  total_weight_ = total_weight.value();

  row_means_.resize(n);
  diagonal_.resize(n);
  const std::size_t num_kept = num_tiles() * (num_tiles() + 1) / 2;
  if (num_kept * kTile * kTile <= most_kept(rows().dim())) kept_ = Matrix<double>(num_kept, kTile * kTile);
  // The matrix is symmetric: tiles on and right of its diagonal give the sums of their rows and of their columns.
  std::vector<double> factors(n);
  for (std::size_t i = 0; i < n; ++i) factors[i] = weight(i);
  Matrix<double> parts(num_tiles(), n, 0.0);  // terms that the columns of row tile t add to each row
  std::vector<CompensatedSum> sums(n);
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> own(end - begin, rows().dim());
    copy_rows(rows(), begin, own);
    kernel_.diagonal(own, std::span(diagonal_).subspan(begin, end - begin));
    Matrix<double> others(kTile, rows().dim());
    Matrix<double> passing(end - begin, kept_.empty() ? kTile : 0);
    std::vector<double> row_sums(end - begin);
    for (std::size_t j = begin; j < n; j += kTile) {
      const std::size_t count = std::min(kTile, n - j);
      copy_rows(rows(), j, others.view().row_range(0, count));
      const MatrixView<double> values = kept_.empty() ? passing.view().column_range(0, count) : kept_tile(begin, j);
      kernel_.evaluate(own, others.view().row_range(0, count), values);
      const auto below = parts.row(begin / kTile).subspan(j, count);
      simd::multiply(values, simd::Op::none, std::span(factors).subspan(j, count), row_sums);
      for (std::size_t i = begin; i < end; ++i) sums[i].add(row_sums[i - begin]);
      if (j > begin) simd::multiply(values, simd::Op::transpose, std::span(factors).subspan(begin, end - begin), below);
    }
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t t = 0; t < i / kTile; ++t) sums[i].add(parts(t, i));
    row_means_[i] = sums[i].value() / total_weight_;
  }
  CompensatedSum grand;
  for (std::size_t i = 0; i < n; ++i) grand.add(weight(i) * row_means_[i]);
  grand_mean_ = grand.value() / total_weight_;
  require_finite(grand_mean_, "a kernel value");
  for (std::size_t i = 0; i < n; ++i) {
    diagonal_[i] = std::max(0.0, centred(diagonal_[i], row_means_[i], row_means_[i]));
  }
}

MatrixView<const double> CentredGram::kept_tile(std::size_t first_row, std::size_t first_column) const {
  const std::size_t t = first_row / kTile;
  // Row tile t starts after t (T - 1) - t (t - 1)/2 + t others.
  const std::size_t number = t * num_tiles() - t * (t - 1) / 2 - t + first_column / kTile;
  return {kept_.row(number).data(), std::min(kTile, size() - first_row), std::min(kTile, size() - first_column)};
}

MatrixView<double> CentredGram::kept_tile(std::size_t first_row, std::size_t first_column) {
  const auto kept = std::as_const(*this).kept_tile(first_row, first_column);
  return {const_cast<double*>(kept.data()), kept.rows(), kept.cols()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

void CentredGram::tile(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const {
  KQD_ASSERT(first_row % kTile == 0 && first_column % kTile == 0);
  if (kept_.empty()) {
    Matrix<double> own(values.rows(), rows().dim());
    Matrix<double> others(values.cols(), rows().dim());
    copy_rows(rows(), first_row, own);
    copy_rows(rows(), first_column, others);
    kernel_.evaluate(own, others, values);
  } else if (first_row <= first_column) {
    const MatrixView<const double> kept = kept_tile(first_row, first_column);
    for (std::size_t i = 0; i < values.rows(); ++i) std::ranges::copy(kept.row(i), values.row(i).begin());
  } else {
    const MatrixView<const double> mirrored = kept_tile(first_column, first_row);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) = mirrored(j, i);
    }
  }
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const auto row = values.row(i);
    const double mean = row_means_[first_row + i];
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = centred(row[j], mean, row_means_[first_column + j]);
  }
}

void CentredGram::apply_weights(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const {
  if (weights_.empty()) return;
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const auto row = values.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] *= weights_[first_row + i] * weights_[first_column + j];
  }
}

void CentredGram::weighted_tile(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const {
  tile(first_row, first_column, values);
  apply_weights(first_row, first_column, values);
}

// k - m_i - m_j + m; values below the rounding error of the means become 0, so that equal points are equal.
double CentredGram::centred(double value, double row_mean, double column_mean) const {
  constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();
  const double difference = value - (row_mean - grand_mean_ + column_mean);
  const double size = std::abs(value) + std::abs(row_mean) + std::abs(column_mean);
  return std::abs(difference) <= kRounding * size ? 0.0 : difference;
}

}  // namespace kqd
