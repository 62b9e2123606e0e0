#include "metrics/mean/centred_gram.hpp"

#include <algorithm>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"

namespace kqd {

CentredGram::CentredGram(Kernel kernel, const TestPool& pool, std::vector<std::size_t> order, ThreadCount threads)
    : kernel_(std::move(kernel)), x_(pool.x), y_(pool.y), order_(std::move(order)) {
  const std::size_t n = size();
  if (pool.weighted()) {
    weights_.resize(n);
    for (std::size_t i = 0; i < n; ++i) weights_[i] = pool.weight_of_row(order_[i]);
    const double largest = *std::ranges::max_element(weights_);
    for (double& w : weights_) w /= largest;  // only ratios matter; now no sum or square overflows
  }
  CompensatedSum total_weight;
  for (std::size_t i = 0; i < n; ++i) total_weight.add(weight(i));
  total_weight_ = total_weight.value();

  row_means_.resize(n);
  diagonal_.resize(n);
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> own(end - begin, rows().dim());
    copy_rows(rows(), begin, own);
    kernel_.diagonal(own, std::span(diagonal_).subspan(begin, end - begin));
    const KernelBlock block(kernel_, own);
    Matrix<double> others(kTile, rows().dim());
    Matrix<double> values(kTile, end - begin);
    std::vector<CompensatedSum> sums(end - begin);
    for (std::size_t j = 0; j < n; j += kTile) {
      const std::size_t count = std::min(kTile, n - j);
      copy_rows(rows(), j, others.view().row_range(0, count));
      block.evaluate(others.view().row_range(0, count), values.view().row_range(0, count));
      for (std::size_t i = 0; i < end - begin; ++i) {
        double part = 0.0;
        for (std::size_t k = 0; k < count; ++k) part += weight(j + k) * values(k, i);
        sums[i].add(part);
      }
    }
    for (std::size_t i = begin; i < end; ++i) row_means_[i] = sums[i - begin].value() / total_weight_;
  });
  CompensatedSum grand;
  for (std::size_t i = 0; i < n; ++i) grand.add(weight(i) * row_means_[i]);
  grand_mean_ = grand.value() / total_weight_;
  for (std::size_t i = 0; i < n; ++i) diagonal_[i] = std::max(0.0, diagonal_[i] - 2.0 * row_means_[i] + grand_mean_);
}

void CentredGram::tile(std::size_t first_row, std::size_t first_column, MatrixView<double> values) const {
  Matrix<double> own(values.rows(), rows().dim());
  Matrix<double> others(values.cols(), rows().dim());
  copy_rows(rows(), first_row, own);
  copy_rows(rows(), first_column, others);
  kernel_.evaluate(own, others, values);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const auto row = values.row(i);
    const double row_part = row_means_[first_row + i] - grand_mean_;
    for (std::size_t j = 0; j < row.size(); ++j) row[j] -= row_part + row_means_[first_column + j];
  }
}

}  // namespace kqd
