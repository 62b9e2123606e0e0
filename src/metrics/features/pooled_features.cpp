#include "metrics/features/pooled_features.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"

namespace kqd {
namespace {

enum Scalar : std::size_t { kWeight, kSquare, kOwn, kTrace, kNumScalars };

std::vector<double> values_of(std::span<const CompensatedSum> sums) {
  std::vector<double> values(sums.size());
  std::ranges::transform(sums, values.begin(), &CompensatedSum::value);
  return values;
}

}  // namespace

PooledFeatures::PooledFeatures(const FeatureMap& map, const TestPool& pool, std::span<const std::size_t> order,
                               bool products, ThreadCount threads, std::size_t second_part)
    : num_products_(products ? kqd::num_products(map.count) : 0),
      weights_(pool.weights_of(order)),
      centre_(map.count),
      terms_(order.size(), kNumScalars + map.count) {
  const Pool rows{pool.x.points, pool.y.points, order};
  fill_terms(map, rows, 0, second_part, threads);
  fill_terms(map, rows, second_part, order.size() - second_part, threads);
  centre_features();

  std::vector<CompensatedSum> of_x(num_columns());
  std::vector<CompensatedSum> of_y(num_columns());
  Matrix<double> block(kFeatureRows, num_columns());
  for (std::size_t first = 0; first < num_rows(); first += kFeatureRows) {
    const auto terms = block.view().row_range(0, std::min(kFeatureRows, num_rows() - first));
    copy_terms(first, terms);
    for (std::size_t i = 0; i < terms.rows(); ++i) {
      auto& sums = order[first + i] < pool.x.size() ? of_x : of_y;
      const auto row = terms.row(i);
      for (std::size_t k = 0; k < row.size(); ++k) sums[k].add(row[k]);
    }
  }
  x_sums_ = values_of(of_x);
  y_sums_ = values_of(of_y);
  total_.resize(num_columns());
  std::ranges::transform(x_sums_, y_sums_, total_.begin(), std::plus<>());
}

void PooledFeatures::fill_terms(const FeatureMap& map, const Pool& rows, std::size_t first, std::size_t count,
                                ThreadCount threads) {
  if (map.count == 0) return;
  parallel_for_blocks(count, kFeatureRows, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> block(end - begin, rows.dim());
    copy_rows(rows, first + begin, block);
    map.evaluate(block, terms_.view().row_range(first + begin, end - begin).column_range(kNumScalars, map.count));
  });
}

void PooledFeatures::centre_features() {
  const std::size_t f = num_features();
  const auto weight = [&](std::size_t i) { return weights_.empty() ? 1.0 : weights_[i]; };
  CompensatedSum total_weight;
  std::vector<CompensatedSum> sums(f);
  for (std::size_t i = 0; i < num_rows(); ++i) {
    total_weight.add(weight(i));
    const auto features = terms_.row(i).subspan(kNumScalars);
    for (std::size_t k = 0; k < f; ++k) sums[k].add(weight(i) * features[k]);
  }
  for (std::size_t k = 0; k < f; ++k) centre_[k] = sums[k].value() / total_weight.value();
  CompensatedSum variance;
  for (std::size_t i = 0; i < num_rows(); ++i) {
    const auto row = terms_.row(i);
    const auto features = row.subspan(kNumScalars);
    double norm = 0.0;
    double trace = 0.0;
    for (std::size_t k = 0; k < f; ++k) {
      features[k] -= centre_[k];
      norm += features[k] * features[k];
      trace += features[k] * centre_[k];
    }
    row[kWeight] = 1.0;
    row[kSquare] = weight(i);
    row[kOwn] = weight(i) * norm;
    row[kTrace] = weight(i) * trace;
    variance.add(weight(i) * norm);
  }
  variance_ = variance.value() / total_weight.value();
  require_finite(variance_, "a feature of the kernel");
}

void PooledFeatures::copy_terms(std::size_t first, MatrixView<double> block) const {
  const std::size_t f = num_features();
  for (std::size_t i = 0; i < block.rows(); ++i) {
    const auto terms = terms_.row(first + i);
    const auto row = block.row(i);
    std::ranges::copy(terms, row.begin());
    if (num_products_ > 0) {
      const auto features = terms.subspan(kNumScalars);
      double* product = row.data() + terms.size();
      for (std::size_t k = 0; k < f; ++k) {
        for (std::size_t l = k; l < f; ++l) *product++ = features[k] * features[l];
      }
    }
    if (weights_.empty()) continue;
    for (double& value : row) value *= weights_[first + i];
  }
}

GroupSums PooledFeatures::as_groups(std::span<const double> columns) const {
  return {.weight = columns[kWeight],
          .square = columns[kSquare],
          .own = columns[kOwn],
          .trace = columns[kTrace],
          .features = columns.subspan(kNumScalars, num_features()),
          .products = columns.subspan(kNumScalars + num_features())};
}

}  // namespace kqd
