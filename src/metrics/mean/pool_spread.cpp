#include "metrics/mean/pool_spread.hpp"

#include <algorithm>
#include <vector>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_block.hpp"
#include "kqd/core/matrix.hpp"

namespace kqd {
namespace {

constexpr std::size_t kSpreadPairsAtATime = 1024;

}  // namespace

PoolSpread pool_spread(const Kernel& kernel, const Pool& pool, ThreadCount threads) {
  const std::size_t num_pairs = pool.size() - 1;
  const std::size_t num_blocks = (num_pairs + kSpreadPairsAtATime - 1) / kSpreadPairsAtATime;
  std::vector<PoolSpread> parts(num_blocks);
  parallel_for_blocks(num_pairs, kSpreadPairsAtATime, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    Matrix<double> rows(count + 1, pool.dim());
    copy_rows(pool, begin, rows);
    std::vector<double> own(count + 1);
    std::vector<double> shared(count);
    kernel.diagonal(rows, own);
    evaluate_pairs(kernel, rows.view().row_range(0, count), rows.view().row_range(1, count), shared);
    PoolSpread& part = parts[begin / kSpreadPairsAtATime];
    CompensatedSum total;
    for (std::size_t i = 0; i < count; ++i) total.add(std::max(0.0, 0.5 * (own[i] + own[i + 1]) - shared[i]));
    part.variance = total.value();
    part.largest_value = *std::ranges::max_element(own);
  });
  PoolSpread spread;
  CompensatedSum total;
  for (const PoolSpread& part : parts) {
    total.add(part.variance);
    spread.largest_value = std::max(spread.largest_value, part.largest_value);
  }
  spread.variance = total.value() / static_cast<double>(num_pairs);
  return spread;
}

}  // namespace kqd
