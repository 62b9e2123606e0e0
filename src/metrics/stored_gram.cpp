#include "metrics/stored_gram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/feasible.hpp"
#include "metrics/numerics.hpp"

namespace kqd {
namespace {

constexpr std::size_t kTile = 256;
constexpr double kMaxBytes = 4e9;

}  // namespace

DistinctRows distinct_rows(const Pool& pool) {
  const std::size_t n = pool.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    if (std::ranges::lexicographical_compare(pool.row(a), pool.row(b))) return true;
    if (std::ranges::lexicographical_compare(pool.row(b), pool.row(a))) return false;
    return a < b;
  });
  std::vector<std::size_t> first_equal(n);
  for (std::size_t k = 0; k < n; ++k) {
    const bool repeated = k > 0 && std::ranges::equal(pool.row(order[k]), pool.row(order[k - 1]));
    first_equal[order[k]] = repeated ? first_equal[order[k - 1]] : order[k];
  }
  DistinctRows rows;
  rows.of_position.resize(n);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < n; ++i) {
    if (first_equal[i] == i) {
      rows.of_position[i] = kept.size();
      kept.push_back(i);
    } else {
      rows.of_position[i] = rows.of_position[first_equal[i]];
    }
  }
  rows.points = gather(pool, kept);
  return rows;
}

void require_storable_gram(std::size_t num_rows, std::size_t dim, bool allowed, std::string_view what) {
  require_feasible(num_rows, dim, allowed, what);
  const double bytes = 8.0 * static_cast<double>(num_rows) * static_cast<double>(num_rows);
  if (allowed || bytes <= kMaxBytes) return;
  fail(ErrorCode::resource_limit,
       "{} keeps the Gram matrix of {} rows, {:.1f} GB; {}, fewer rows, or a method whose memory is near-linear", what,
       num_rows, bytes / 1e9, kHowToAllow);
}

Matrix<double> gram_matrix(const Kernel& kernel, MatrixView<const double> points, ThreadCount threads) {
  const std::size_t n = points.rows();
  Matrix<double> gram(n, n);
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    const KernelBlock block(kernel, points.row_range(begin, end - begin));
    Matrix<double> values(kTile, end - begin);
    for (std::size_t i = begin; i < n; i += kTile) {
      const std::size_t count = std::min(kTile, n - i);
      const auto here = values.view().row_range(0, count);
      block.evaluate(points.row_range(i, count), here);
      for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t c = 0; c < std::min(end - begin, i + r + 1 - begin); ++c) {
          gram(i + r, begin + c) = gram(begin + c, i + r) = here(r, c);
        }
      }
    }
  });
  std::vector<double> diagonal(n);
  kernel.diagonal(points, diagonal);
  for (std::size_t i = 0; i < n; ++i) gram(i, i) = diagonal[i];
  require_finite(gram.values(), "the kernel");
  return gram;
}

void centre_gram(Matrix<double>& gram) {
  const std::size_t n = gram.rows();
  std::vector<double> means(n);
  for (std::size_t i = 0; i < n; ++i) means[i] = sum(gram.row(i)) / static_cast<double>(n);
  const double grand_mean = sum(means) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = gram.row(i);
    for (std::size_t j = 0; j < n; ++j) row[j] = (row[j] - (means[i] + means[j])) + grand_mean;
  }
}

std::vector<double> weights_on_points(const DistinctRows& rows, std::span<const std::size_t> positions,
                                      std::span<const double> weights) {
  std::vector<double> mass(rows.size(), 0.0);
  CompensatedSum total;
  for (const std::size_t i : positions) {
    const double w = weights.empty() ? 1.0 : weights[i];
    mass[rows.of_position[i]] += w;
    total.add(w);
  }
  for (double& m : mass) m /= total.value();
  return mass;
}

}  // namespace kqd
