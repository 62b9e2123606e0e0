#include "core/pool.hpp"

#include "core/summation.hpp"

namespace kqd {

std::vector<double> pooled_mean(const Pool& pool) {
  // Deviations from the first row are summed: far from the origin they are small, and so is what rounding takes.
  const auto first = pool.row(0);
  std::vector<CompensatedSum> totals(pool.dim());
  for (std::size_t i = 1; i < pool.size(); ++i) {
    const auto row = pool.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) totals[k].add(row[k] - first[k]);
  }
  std::vector<double> mean(pool.dim());
  for (std::size_t k = 0; k < mean.size(); ++k) {
    mean[k] = first[k] + totals[k].value() / static_cast<double>(pool.size());
  }
  return mean;
}

}  // namespace kqd
