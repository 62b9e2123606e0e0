#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/pool.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Algorithms of MONK for the function f, |f| <= 1, whose median over blocks of mean f(x) - mean f(y) is largest.
enum class MonkForm {
  block_median,  ///< each block has its own f: the median of MMD_V over the blocks, in closed form
  bcd_fast,      ///< the same by iteration, one vector of coefficients per block
  bcd,           ///< one f for all blocks, by iteration
};

struct MonkOptions {
  MonkForm form = MonkForm::block_median;
  std::size_t num_blocks = 1;  ///< odd
  std::size_t iterations = 100;
  double beta = 1e-3;          ///< step t goes 1 / (1 + beta t) of the way
  double jitter = 0.0;         ///< added to the diagonal of the Gram matrix
  std::size_t reshuffles = 5;  ///< bcd_fast: number of partitions
  std::size_t stall = 10;      ///< bcd_fast: steps before the second one
  Seed seed{0};                ///< of the partitions
};

/// MONK's estimate of the MMD between the rows x and y of the pool, cut into random blocks that depend on the seed and
/// on the numbers of rows only [Ler19]. `gram` is the Gram matrix of the pool; only bcd needs it.
[[nodiscard]] double monk(const Kernel& kernel, const Pool& pool, std::span<const std::size_t> x,
                          std::span<const std::size_t> y, MatrixView<const double> gram, const MonkOptions& options,
                          ThreadCount threads);

}  // namespace kqd
