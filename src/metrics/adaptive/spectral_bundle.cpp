#include "metrics/adaptive/spectral_bundle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/blas.hpp"
#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "metrics/mean/expand_labels.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTile = 1024;
constexpr std::size_t kMaxTasks = 64;  // partial sums that are kept apart until they are added in order
constexpr std::size_t kNumWhitened = 30;
constexpr double kRidge = 0.03;  // of the largest variance

std::size_t rows_per_task(std::size_t num_rows) {
  const std::size_t tiles = (num_rows + kRowsPerTile - 1) / kRowsPerTile;
  return (tiles + kMaxTasks - 1) / kMaxTasks * kRowsPerTile;
}

}  // namespace

SpectralBundle::SpectralBundle(std::string name, Kernel kernel, PrincipalBasis basis, Pool pool,
                               std::vector<double> weights, ThreadCount threads)
    : name_(std::move(name)),
      kernel_(std::move(kernel)),
      basis_(std::move(basis)),
      pool_(pool),
      weights_(std::move(weights)),
      means_(basis_.variances.size(), 0.0) {
  const std::size_t rank = means_.size();
  const std::size_t step = rows_per_task(pool_.size());
  Matrix<double> sums((pool_.size() + step - 1) / step, rank, 0.0);
  parallel_for_blocks(pool_.size(), step, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> tile(kRowsPerTile, rank);
    for (std::size_t first = begin; first < end; first += kRowsPerTile) {
      const std::size_t last = std::min(end, first + kRowsPerTile);
      const auto rows = tile.view().row_range(0, last - first);
      features(first, last, rows);
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        for (std::size_t j = 0; j < rank; ++j) sums(begin / step, j) += weight(first + i) * rows(i, j);
      }
    }
  });
  CompensatedSum total;
  for (std::size_t i = 0; i < pool_.size(); ++i) total.add(weight(i));
  total_weight_ = total.value();
  std::vector<double> means(rank);
  for (std::size_t j = 0; j < rank; ++j) {
    CompensatedSum sum;
    for (std::size_t t = 0; t < sums.rows(); ++t) sum.add(sums(t, j));
    means[j] = sum.value() / total_weight_;
  }
  means_ = std::move(means);
}

std::vector<std::string> SpectralBundle::names() const {
  return {name_ + ", coarse", name_ + ", fine", name_ + ", finest"};
}

void SpectralBundle::features(std::size_t begin, std::size_t end, MatrixView<double> values) const {
  Matrix<double> rows(end - begin, pool_.dim());
  copy_rows(pool_, begin, rows);
  Matrix<double> kernel_values(end - begin, basis_.landmarks.rows());
  kernel_.evaluate(rows, basis_.landmarks, kernel_values);
  gemm(1.0, kernel_values, Op::none, basis_.coefficients, Op::none, 0.0, values);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) -= means_[j];
  }
}

void SpectralBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                              ThreadCount threads) const {
  const std::size_t rank = means_.size();
  const std::size_t num_labellings = values.cols();
  const std::size_t step = rows_per_task(pool_.size());
  const std::size_t num_tasks = (pool_.size() + step - 1) / step;
  // Row j < rank: sum of weight * feature j over the rows labelled X; the last row: their weight.
  std::vector<Matrix<double>> sums(num_tasks);
  parallel_for_blocks(pool_.size(), step, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double>& own = sums[begin / step] = Matrix<double>(rank + 1, num_labellings, 0.0);
    Matrix<double> tile(kRowsPerTile, rank + 1);
    Matrix<double> labels(kRowsPerTile, num_labellings);
    for (std::size_t first = begin; first < end; first += kRowsPerTile) {
      stop_point();
      const std::size_t count = std::min(end - first, kRowsPerTile);
      const auto rows = tile.view().row_range(0, count);
      features(first, first + count, rows.column_range(0, rank));
      for (std::size_t i = 0; i < count; ++i) rows(i, rank) = 1.0;
      const auto columns = labels.view().row_range(0, count);
      expand_labels(batches, 0, first, weights_, columns);
      gemm(1.0, rows, Op::transpose, columns, Op::none, 1.0, own);
    }
  });
  Matrix<double>& total = sums.front();
  for (std::size_t t = 1; t < num_tasks; ++t) {
    for (std::size_t j = 0; j <= rank; ++j) {
      for (std::size_t k = 0; k < num_labellings; ++k) total(j, k) += sums[t](j, k);
    }
  }
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::fill(values.row(r), 0.0);
  const double ridge = rank > 0 ? kRidge * basis_.variances.front() : 0.0;
  for (std::size_t k = 0; k < num_labellings; ++k) {
    const double of_x = total(rank, k);
    // The functions sum to 0 over the pool: mean over X - mean over Y = S (1/W_X + 1/W_Y).
    const double scale = total_weight_ / (of_x * (total_weight_ - of_x));
    for (std::size_t j = 0; j < rank; ++j) {
      const double square = scale * scale * total(j, k) * total(j, k);
      values(0, k) += square;
      values(1, k) += square / (basis_.variances[j] + ridge);
      if (j < kNumWhitened) values(2, k) += square / basis_.variances[j];
    }
  }
}

double SpectralBundle::tie_slack(std::size_t r, double value) const {
  // A sum S_j of N features has an error of about N eps times their size; the statistic of equal labellings feels it as
  // sqrt(value) times the error of d_j, once per function and divided by its scale.
  const double eps = std::numeric_limits<double>::epsilon();
  const auto n = static_cast<double>(pool_.size());
  double error = 0.0;
  for (std::size_t j = 0; j < means_.size(); ++j) {
    const double scale = r == 0 ? 1.0 : basis_.variances[j] + (r == 1 ? kRidge * basis_.variances.front() : 0.0);
    error += basis_.variances[j] / scale;
  }
  return 8.0 * std::sqrt(n) * eps * (value + std::sqrt(value * error));
}

}  // namespace kqd
