#include "metrics/adaptive/spectral_bundle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "simd/label_sums.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTile = 256;
constexpr std::size_t kMaxTasks = 16;  // partial sums that are kept apart until they are added in order
constexpr std::size_t kNumWhitened = 30;
constexpr double kRidge = 0.03;  // of the largest variance
// Error of a difference of means, in units of the sizes of the terms of one value: the mean of the pool, which is added
// with compensation, is off by some eps of them, and errors of single values average out.
constexpr double kMeanError = 16.0 * std::numeric_limits<double>::epsilon();

std::size_t rows_per_task(std::size_t num_rows) {
  const std::size_t tiles = (num_rows + kRowsPerTile - 1) / kRowsPerTile;
  return (tiles + kMaxTasks - 1) / kMaxTasks * kRowsPerTile;
}

}  // namespace

FunctionSet principal_functions(const Kernel& kernel, const PrincipalBasis& basis) {
  return {.kernel = kernel.spec(), .points = basis.landmarks, .coefficients = basis.coefficients};
}

SpectralBundle::SpectralBundle(std::vector<SpectralView> views, Pool pool, std::vector<double> weights,
                               std::size_t permutation_count, ThreadCount threads)
    : views_(std::move(views)),
      pool_(pool),
      num_rows_(pool.size()),
      num_positions_(pool.size()),
      weights_(std::move(weights)) {
  measure(threads);
  choose_whitened(permutation_count);
}

SpectralBundle::SpectralBundle(std::vector<SpectralView> views, GroupedSummary& summary, std::size_t permutation_count,
                               ThreadCount threads)
    : views_(std::move(views)),
      pool_(summary.rows().pilot()),
      data_(summary.data()),
      num_rows_(summary.rows().num_units() * summary.rows().rows_per_unit()),
      num_positions_(summary.rows().num_units()) {
  measure(threads);
  total_weight_ = static_cast<double>(num_positions_);
  choose_whitened(permutation_count);
  for (SpectralView& view : views_) {
    if (view.functions == nullptr) view.functions = make_functions(principal_functions(view.kernel, view.basis));
    unit_means_.push_back(summary.add_means(view.functions, threads));
  }
}

SpectralBundle::SpectralBundle(std::vector<SpectralView> views, std::shared_ptr<const GroupedData> data,
                               std::vector<std::size_t> unit_means, std::vector<double> mean_squared_sizes,
                               std::size_t permutation_count)
    : views_(std::move(views)),
      pool_{},
      data_(std::move(data)),
      unit_means_(std::move(unit_means)),
      num_rows_(data_->num_units * data_->rows_per_unit),
      num_positions_(data_->num_units),
      total_weight_(static_cast<double>(data_->num_units)),
      means_(mean_squared_sizes.size(), 0.0),
      mean_squared_sizes_(std::move(mean_squared_sizes)) {
  choose_whitened(permutation_count);
}

void SpectralBundle::measure(ThreadCount threads) {
  std::size_t num_functions = 0;
  for (const SpectralView& view : views_) num_functions += view.basis.variances.size();
  means_.assign(num_functions, 0.0);
  const std::size_t rank = means_.size();
  const std::size_t step = rows_per_task(pool_.size());
  Matrix<double> sums((pool_.size() + step - 1) / step, rank, 0.0);
  Matrix<double> squared_sizes(sums.rows(), rank, 0.0);
  parallel_for_blocks(pool_.size(), step, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<CompensatedSum> own(rank);
    Matrix<double> tile(kRowsPerTile, rank);
    Matrix<double> size_tile(kRowsPerTile, rank);
    for (std::size_t first = begin; first < end; first += kRowsPerTile) {
      const std::size_t last = std::min(end, first + kRowsPerTile);
      const auto rows = tile.view().row_range(0, last - first);
      const auto sizes = size_tile.view().row_range(0, last - first);
      features(first, last, rows, sizes);
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        for (std::size_t j = 0; j < rank; ++j) {
          own[j].add(weight(first + i) * rows(i, j));
          squared_sizes(begin / step, j) += sizes(i, j) * sizes(i, j);
        }
      }
    }
    for (std::size_t j = 0; j < rank; ++j) sums(begin / step, j) = own[j].value();
  });
  CompensatedSum total;
  for (std::size_t i = 0; i < pool_.size(); ++i) total.add(weight(i));
  total_weight_ = total.value();
  std::vector<double> means(rank);
  mean_squared_sizes_.assign(rank, 0.0);
  for (std::size_t j = 0; j < rank; ++j) {
    CompensatedSum sum;
    for (std::size_t t = 0; t < sums.rows(); ++t) {
      sum.add(sums(t, j));
      mean_squared_sizes_[j] += squared_sizes(t, j) / static_cast<double>(pool_.size());
    }
    means[j] = sum.value() / total_weight_;
  }
  means_ = std::move(means);
}

void SpectralBundle::choose_whitened(std::size_t permutation_count) {
  // The sum of q whitened squares has mean q w and standard deviation sqrt(2 q) w, w = 1/nx + 1/ny >= 4/N. Values that
  // are closer than tie_slack(), 2 kMeanError sqrt(q w error), count as equal: that has to stay below the gap of two
  // neighbours, sqrt(2 q) w / permutation_count, or all of them become one.
  const double most_error = 2.0 / (static_cast<double>(num_rows_) * kMeanError * kMeanError *
                                   static_cast<double>(permutation_count) * static_cast<double>(permutation_count));
  std::size_t first = 0;
  for (const SpectralView& view : views_) {
    const std::size_t most = std::min(kNumWhitened, view.basis.variances.size());
    std::size_t count = 0;
    double error = 0.0;
    for (; count < most; ++count) {
      error += mean_squared_sizes_[first + count] / view.basis.variances[count];
      if (count > 0 && error > most_error) break;
    }
    num_whitened_.push_back(count);
    first += view.basis.variances.size();
  }
}

std::vector<std::string> SpectralBundle::names() const {
  std::vector<std::string> names;
  for (const SpectralView& view : views_) {
    for (const Fineness fineness : view.statistics) {
      names.push_back(view.name + std::array{", coarse", ", fine", ", finest"}[static_cast<std::size_t>(fineness)]);
    }
  }
  return names;
}

std::vector<double> SpectralBundle::factors(std::size_t view, Fineness fineness) const {
  const std::vector<double>& variances = views_[view].basis.variances;
  std::vector<double> factors(variances.size(), 1.0);
  if (fineness == Fineness::coarse) return factors;
  const double ridge = fineness == Fineness::fine ? kRidge * variances.front() : 0.0;
  if (fineness == Fineness::finest) factors.resize(num_whitened_[view]);
  for (std::size_t j = 0; j < factors.size(); ++j) factors[j] = 1.0 / (variances[j] + ridge);
  return factors;
}

void SpectralBundle::features(std::size_t begin, std::size_t end, MatrixView<double> values,
                              MatrixView<double> sizes) const {
  Matrix<double> rows(end - begin, pool_.dim());
  copy_rows(pool_, begin, rows);
  std::size_t first = 0;
  for (const SpectralView& view : views_) {
    const std::size_t rank = view.basis.variances.size();
    Matrix<double> kernel_values(end - begin, view.basis.landmarks.rows());
    view.kernel.evaluate(rows, view.basis.landmarks, kernel_values);
    simd::multiply(kernel_values, simd::Op::none, view.basis.coefficients, simd::Op::none,
                   values.column_range(first, rank));
    if (sizes.rows() > 0) {
      Matrix<double> coefficients(view.basis.coefficients.view());
      for (double& value : kernel_values.values()) value = std::abs(value);
      for (double& value : coefficients.values()) value = std::abs(value);
      simd::multiply(kernel_values, simd::Op::none, coefficients, simd::Op::none, sizes.column_range(first, rank));
    }
    first += rank;
  }
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) -= means_[j];
  }
}

void SpectralBundle::centred_functions(std::size_t begin, MatrixView<double> values) const {
  if (data_ == nullptr) return features(begin, begin + values.rows(), values);
  std::size_t first = 0;
  for (const std::size_t number : unit_means_) {
    const Matrix<double>& means = data_->unit_means[number];
    for (std::size_t i = 0; i < values.rows(); ++i) {
      std::ranges::copy(means.row(begin + i), values.row(i).subspan(first).begin());
    }
    first += means.cols();
  }
}

void SpectralBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values,
                              ThreadCount threads) const {
  const std::size_t rank = means_.size();
  const std::size_t permutation_count = values.cols();
  const std::size_t step = rows_per_task(num_positions_);
  const std::size_t num_tasks = (num_positions_ + step - 1) / step;
  const simd::RowGroupLabels labels(batches, permutation_count);
  // Column j < rank: sum of weight * feature j over the rows labelled X; the last column: their weight.
  std::vector<Matrix<double>> sums(num_tasks);
  parallel_for_blocks(num_positions_, step, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double>& own = sums[begin / step] = Matrix<double>(permutation_count, rank + 1, 0.0);
    Matrix<double> tile(kRowsPerTile, rank + 1);
    for (std::size_t first = begin; first < end; first += kRowsPerTile) {
      stop_point();
      const std::size_t count = std::min(end - first, kRowsPerTile);
      const auto rows = tile.view().row_range(0, count);
      centred_functions(first, rows.column_range(0, rank));
      for (std::size_t i = 0; i < count; ++i) {
        rows(i, rank) = 1.0;
        if (weights_.empty()) continue;
        for (double& value : rows.row(i)) value *= weights_[first + i];
      }
      simd::add_labelled_rows(rows, labels, first, own);
    }
  });
  Matrix<double>& total = sums.front();
  for (std::size_t t = 1; t < num_tasks; ++t) {
    for (std::size_t k = 0; k < permutation_count; ++k) {
      for (std::size_t j = 0; j <= rank; ++j) total(k, j) += sums[t](k, j);
    }
  }
  std::size_t first = 0;
  std::size_t row = 0;
  for (std::size_t v = 0; v < views_.size(); ++v) {
    for (const Fineness fineness : views_[v].statistics) {
      const std::vector<double> factor = factors(v, fineness);
      const auto value = values.row(row++);
      for (std::size_t k = 0; k < permutation_count; ++k) {
        const double of_x = total(k, rank);
        // The functions sum to 0 over the pool: mean over X - mean over Y = S (1/W_X + 1/W_Y).
        const double scale = total_weight_ / (of_x * (total_weight_ - of_x));
        double sum = 0.0;
        for (std::size_t j = 0; j < factor.size(); ++j) {
          const double gap = scale * total(k, first + j);
          sum += factor[j] * gap * gap;
        }
        value[k] = sum;
      }
    }
    first += views_[v].basis.variances.size();
  }
}

double SpectralBundle::tie_slack(std::size_t r, double value) const {
  // A feature is a sum of terms that may be much larger than it (a kernel column that hardly varies, points far from
  // 0): it has an error of eps times their sizes s_j, and so has the mean that is taken from it. The statistic feels
  // that as sqrt(value) times the error of d_j, once per function and times its factor, and near 0 as the square of it.
  // Sums of N centred features round by sqrt(N) eps of themselves.
  std::size_t view = 0;
  std::size_t first = 0;
  for (; r >= views_[view].statistics.size(); ++view) {
    r -= views_[view].statistics.size();
    first += views_[view].basis.variances.size();
  }
  const std::vector<double> factor = factors(view, views_[view].statistics[r]);
  double error = 0.0;
  for (std::size_t j = 0; j < factor.size(); ++j) error += factor[j] * mean_squared_sizes_[first + j];
  const double rounding = 4.0 * std::sqrt(static_cast<double>(num_rows_)) * std::numeric_limits<double>::epsilon();
  return 2.0 * rounding * value + 2.0 * kMeanError * std::sqrt(value * error) + kMeanError * kMeanError * error;
}

}  // namespace kqd
