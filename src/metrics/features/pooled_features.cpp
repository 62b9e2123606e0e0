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

void fill_products(std::span<const double> features, double* product) {
  for (std::size_t k = 0; k < features.size(); ++k) {
    for (std::size_t l = k; l < features.size(); ++l) *product++ = features[k] * features[l];
  }
}

// Completes the terms of a row without weight whose features are there already.
void fill_row(std::span<double> row, std::span<const double> centre, bool products) {
  const auto features = row.subspan(kNumScalars, centre.size());
  double norm = 0.0;
  double trace = 0.0;
  for (std::size_t k = 0; k < centre.size(); ++k) {
    features[k] -= centre[k];
    norm += features[k] * features[k];
    trace += features[k] * centre[k];
  }
  row[kWeight] = 1.0;
  row[kSquare] = 1.0;
  row[kOwn] = norm;
  row[kTrace] = trace;
  if (products) fill_products(features, row.data() + kNumScalars + centre.size());
}

}  // namespace

PooledFeatures::PooledFeatures(const FeatureMap& map, const TestPool& pool, std::span<const std::size_t> order,
                               bool products, ThreadCount threads, std::size_t second_part)
    : num_products_to_make_(products ? kqd::num_products(map.count) : 0),
      weights_(pool.weights_of(order)),
      centre_(map.count),
      terms_(order.size(), kNumScalars + map.count) {
  const Pool rows{pool.x.points, pool.y.points, order};
  fill_terms(map, rows, 0, second_part, threads);
  fill_terms(map, rows, second_part, order.size() - second_part, threads);
  centre_features();
  add_up([&](std::size_t i) { return order[i] < pool.x.size(); });
}

PooledFeatures::PooledFeatures(const FeatureMap& map, const GroupedRows& rows, bool products, ThreadCount threads)
    : num_additions_(kFeatureRows + rows.rows_per_unit() / kFeatureRows), centre_(rows.pilot_means(map, threads)) {
  const std::size_t f = map.count;
  const std::size_t columns = kNumScalars + f + (products ? kqd::num_products(f) : 0);
  const FeatureMap terms{columns, [&](MatrixView<const double> points, MatrixView<double> of_rows) {
                           if (f > 0) map.evaluate(points, of_rows.column_range(kNumScalars, f));
                           for (std::size_t i = 0; i < of_rows.rows(); ++i) fill_row(of_rows.row(i), centre_, products);
                         }};
  terms_ = rows.unit_sums(terms, threads);
  add_up([&](std::size_t unit) { return rows.groups().order[unit] < rows.groups().sizes.num_x; });
  const GroupSums all = as_groups(total_);
  double mean_square = 0.0;
  for (const double sum : all.features) mean_square += (sum / all.weight) * (sum / all.weight);
  variance_ = std::max(0.0, all.own / all.weight - mean_square);
  require_finite(variance_, "a feature of the kernel");
}

template <class IsX>
void PooledFeatures::add_up(const IsX& is_x) {
  std::vector<CompensatedSum> of_x(num_columns());
  std::vector<CompensatedSum> of_y(num_columns());
  Matrix<double> block(kFeatureRows, num_columns());
  for (std::size_t first = 0; first < num_rows(); first += kFeatureRows) {
    const auto terms = block.view().row_range(0, std::min(kFeatureRows, num_rows() - first));
    copy_terms(first, terms);
    for (std::size_t i = 0; i < terms.rows(); ++i) {
      auto& sums = is_x(first + i) ? of_x : of_y;
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
    if (num_products_to_make_ > 0) fill_products(row.subspan(kNumScalars, f), row.data() + terms.size());
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
