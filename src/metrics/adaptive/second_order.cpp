#include "metrics/adaptive/second_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "metrics/adaptive/relations.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 1024;
constexpr std::size_t kRowsForCorrelations = 1000;
constexpr std::size_t kColumnsForCorrelations = 1500;

// The average over the pool of |x - mean|^2, blocks added in order.
double total_variance(const Pool& pool, std::span<const double> mean, ThreadCount threads) {
  std::vector<double> of_blocks((pool.size() + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for_blocks(pool.size(), kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    double total = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = pool.row(i);
      for (std::size_t k = 0; k < row.size(); ++k) {
        const double deviation = row[k] - mean[k];
        total += deviation * deviation;
      }
    }
    of_blocks[begin / kRowsPerTask] = total;
  });
  return sum(of_blocks) / static_cast<double>(pool.size());
}

std::vector<std::pair<std::size_t, std::size_t>> all_pairs(std::span<const std::size_t> columns) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  pairs.reserve(columns.size() * (columns.size() - 1) / 2);
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) pairs.emplace_back(columns[a], columns[b]);
  }
  return pairs;
}

// The pairs with the largest correlations, in the order of the columns.
void keep_most_correlated(const PairProducts& columns, const Pool& rows, std::size_t most, Seed seed,
                          std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Matrix<double> some = subsample(rows, kRowsForCorrelations, seed, Purpose::landmarks);
  standardise(columns.mean, columns.deviation, some);
  Matrix<double> correlations(rows.dim(), rows.dim());
  simd::multiply(some, simd::Op::transpose, some, simd::Op::none, correlations);
  const auto size = [&](const auto& pair) { return std::abs(correlations(pair.first, pair.second)); };
  const auto larger = [&](const auto& p, const auto& q) {
    const double of_p = size(p);
    const double of_q = size(q);
    return of_p != of_q ? of_p > of_q : p < q;
  };
  const auto end = pairs.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(pairs.begin(), end, pairs.end(), larger);
  pairs.erase(end, pairs.end());
  std::ranges::sort(pairs);
}

// All pairs of numbers, or those of the largest correlations.
PairProducts column_products(const Pool& rows, const TableParts& parts, std::size_t most_pairs, Seed seed) {
  PairProducts columns = measured_columns(rows, parts);
  const std::vector<std::size_t> numbers = parts.columns_of(ColumnKind::number);
  RandomStream stream(seed, Purpose::linear_directions);
  auto some = sample_without_replacement(numbers.size(), std::min(numbers.size(), kColumnsForCorrelations), stream);
  std::ranges::sort(some);
  for (std::size_t& k : some) k = numbers[k];
  columns.pairs = all_pairs(some);
  if (columns.pairs.size() > most_pairs) keep_most_correlated(columns, rows, most_pairs, seed, columns.pairs);
  return columns;
}

}  // namespace

LinearComponents linear_components(const Pool& pool, const PrincipalOptions& options, Seed seed, ThreadCount threads) {
  const PrincipalBasis basis = principal_basis(Kernel(parse_kernel("linear")), pool, options, seed, threads);
  LinearComponents made{.mean = pooled_mean(pool),
                        .weights = Matrix<double>(pool.dim(), basis.variances.size()),
                        .variances = basis.variances};
  simd::multiply(basis.landmarks, simd::Op::transpose, basis.coefficients, simd::Op::none, made.weights);
  const double total = total_variance(pool, made.mean, threads);
  made.mean_variance = total / static_cast<double>(pool.dim());
  const std::size_t num_others = pool.dim() - std::min(pool.dim(), made.variances.size());
  if (num_others > 0) {
    made.other_variance = std::max(0.0, total - sum(made.variances)) / static_cast<double>(num_others);
  }
  return made;
}

PairProducts second_moments(const LinearComponents& components, const Pool& rows, const TableParts& parts,
                            std::size_t most_components, std::size_t most_pairs, Seed seed) {
  PairProducts made = column_products(rows, parts, most_pairs, seed);
  if (made.marks.any()) made.centres = means_where_known(FunctionSet{{}, made}, rows);
  const std::size_t rank = std::min(most_components, components.variances.size());
  made.num_components = rank;
  made.components.mean = components.mean;
  made.components.weights = Matrix<double>(components.weights.view().column_range(0, rank));
  return made;
}

PairProducts squares_of_columns(const PairProducts& products, const Pool& rows, const TableParts& parts) {
  PairProducts made{.mean = products.mean, .deviation = products.deviation, .pairs = {}, .marks = products.marks};
  for (const std::size_t k : parts.columns_of(ColumnKind::number)) made.pairs.emplace_back(k, k);
  made.components.mean = products.components.mean;
  made.components.weights = Matrix<double>(made.mean.size(), 0);
  if (made.marks.any()) made.centres = means_where_known(FunctionSet{{}, made}, rows);
  return made;
}

TripleProducts third_moments(const LinearComponents& components, const PairProducts& products, const Pool& rows) {
  TripleProducts made{products};
  made.factors.num_components = 1;
  made.factors.components.weights = Matrix<double>(components.weights.view().column_range(0, 1));
  made.factors.components.variances = {components.variances.front()};
  made.factors.centres.clear();
  if (made.factors.marks.any()) made.factors.centres = means_where_known(FunctionSet{{}, made}, rows);
  return made;
}

}  // namespace kqd
