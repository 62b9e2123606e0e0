#include "metrics/test_pool.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 4096;

// One round of a multiply-and-fold hash: the two halves of a 128-bit product, folded.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd6e8feb86659fd93ULL);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t hash_row(std::span<const double> row, double weight, std::uint64_t key) {
  std::uint64_t hash = key;
  for (const double v : row) hash = mix(hash, std::bit_cast<std::uint64_t>(v + 0.0));  // -0 counts as 0
  return mix(hash, std::bit_cast<std::uint64_t>(weight));
}

}  // namespace

double TestPool::weight_of_row(std::size_t row) const {
  const bool in_x = row < x.size();
  const SampleView& sample = in_x ? x : y;
  return sample.weighted() ? sample.weights[in_x ? row : row - x.size()] : 1.0;
}

TestPool make_test_pool(const SampleView& x, const SampleView& y, Seed seed, ThreadCount threads) {
  const Pool natural{x.points, y.points};
  const std::size_t n = natural.size();
  if (n > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorCode::resource_limit, "{} pooled rows, at most 4294967295 can be tested", n);
  }
  TestPool pool{x, y, {}};
  pool.order.resize(n);
  const std::uint64_t key = RandomStream(seed, Purpose::row_order).bits64();
  std::vector<std::uint64_t> keys(n);
  parallel_for_blocks(n, kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t hash = hash_row(natural.row(i), pool.weight_of_row(i), key);
      keys[i] = (hash & 0xffffffff00000000ULL) | i;
    }
  });
  sort_ascending(keys);
  for (std::size_t k = 0; k < n; ++k) pool.order[k] = keys[k] & 0xffffffffULL;

  // Runs of equal half-hashes are equal rows, or rarely different ones: those are told apart by what they hold, and
  // equal rows by bits that know nothing of them.
  const auto before = [&](std::size_t a, std::size_t b) {
    const auto by_values = std::ranges::lexicographical_compare(natural.row(a), natural.row(b));
    if (by_values || std::ranges::lexicographical_compare(natural.row(b), natural.row(a))) return by_values;
    const double weight_a = pool.weight_of_row(a);
    const double weight_b = pool.weight_of_row(b);
    if (weight_a != weight_b) return weight_a < weight_b;
    return mix(key, a) < mix(key, b);
  };
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin + 1;
    while (end < n && (keys[end] >> 32U) == (keys[begin] >> 32U)) ++end;
    if (end - begin > 1) std::ranges::sort(std::span(pool.order).subspan(begin, end - begin), before);
    begin = end;
  }
  return pool;
}

}  // namespace kqd
