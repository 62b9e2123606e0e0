#include "metrics/test_pool.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"
#include "kernel/custom_kernel.hpp"
#include "kernel/resolve.hpp"
#include "kqd/kernel/objects.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

// Calls body(first, last) for every longest run of two or more positions of [begin, end) that continue one another.
template <class Continues, class Body>
void for_each_run(std::size_t begin, std::size_t end, const Continues& continues, const Body& body) {
  for (std::size_t first = begin; first < end;) {
    std::size_t last = first + 1;
    while (last < end && continues(last)) ++last;
    if (last - first > 1) body(first, last);
    first = last;
  }
}

// Adds to `keys` a hash of each row's rank in column k, equal values having equal ranks. A column of one value adds
// nothing, and the result is false. How often its values repeat tells columns apart, not their place in the row.
bool add_hashed_ranks(const Pool& rows, std::size_t k, std::mutex& mutex, std::span<std::uint64_t> keys) {
  const std::size_t n = rows.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = rows.row(i)[k];
  std::vector<std::uint32_t> order(n);
  argsort(values, order);
  if (values[order.front()] == values[order.back()]) return false;
  const auto continues = [&](std::size_t i) { return values[order[i]] == values[order[i - 1]]; };
  std::uint64_t repeats = n;
  for_each_run(0, n, continues,
               [&](std::size_t first, std::size_t last) { repeats = mix(repeats, first << 32U | last); });
  const std::scoped_lock lock(mutex);
  std::size_t rank = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0 && !continues(i)) rank = i;
    keys[order[i]] += mix(repeats, rank);
  }
  return true;
}

// A hash of each row's ranks and weight: the same in any units, order of the columns, and precision of storage.
std::vector<std::uint64_t> row_keys(const TestPool& pool, const Pool& rows, ThreadCount threads) {
  std::vector<std::uint64_t> keys(rows.size(), 0);
  std::mutex mutex;
  std::atomic<bool> varies = false;
  parallel_for_blocks(rows.dim(), 1, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (add_hashed_ranks(rows, k, mutex, keys)) varies = true;
    }
  });
  if (!varies) std::ranges::fill(keys, hash_values(rows.row(0), keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = mix(keys[i], std::bit_cast<std::uint64_t>(pool.weight_of_row(i)));
  }
  return keys;
}

// Every order equally likely.
void shuffle(std::span<std::size_t> rows, RandomStream& stream) {
  for (std::size_t left = rows.size(); left > 1; --left) {
    std::swap(rows[left - 1], rows[static_cast<std::size_t>(stream.below(left))]);
  }
}

}  // namespace

double TestPool::weight_of_row(std::size_t row) const {
  const bool in_x = row < x.size();
  const SampleView& sample = in_x ? x : y;
  return sample.weighted() ? sample.weights[in_x ? row : row - x.size()] : 1.0;
}

Groups TestPool::observed() const {
  Groups groups;
  for (std::size_t i = 0; i < order.size(); ++i) (order[i] < x.size() ? groups.x : groups.y).push_back(i);
  return groups;
}

std::vector<double> TestPool::weights_of(std::span<const std::size_t> rows) const {
  if (!weighted()) return {};
  std::vector<double> weights(rows.size());
  std::ranges::transform(rows, weights.begin(), [&](std::size_t row) { return weight_of_row(row); });
  return scaled_near_one(weights);
}

std::uint64_t identity_of(const SampleView& x, const SampleView& y, const KernelSpec& kernel) {
  const Pool rows{x.points, y.points};
  const auto are_numbered = [&] {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows.row(i)[0] != static_cast<double>(i)) return false;
    }
    return true;
  };
  const bool by_values = kernel.family == KernelFamily::custom && rows.dim() == 1;
  if (!by_values || (!is_of_objects(kernel) && !are_numbered())) return 0;
  constexpr std::size_t kPartners = 16;
  const std::size_t step = (rows.size() + kPartners - 1) / kPartners;
  Matrix<double> partners((rows.size() + step - 1) / step, 1);
  for (std::size_t j = 0; j < partners.rows(); ++j) partners(j, 0) = rows.row(j * step)[0];
  std::uint64_t hash = rows.size();
  for (const SampleView* sample : {&x, &y}) {
    Matrix<double> values(sample->size(), partners.rows());
    custom_values(kernel, sample->points, partners.view(), values.view());
    hash = hash_values(values.values(), hash);
  }
  return hash;
}

TestPool make_test_pool(const SampleView& x, const SampleView& y, ThreadCount threads, std::uint64_t identity) {
  const Pool natural{x.points, y.points};
  const std::size_t n = natural.size();
  if (n > std::numeric_limits<std::uint32_t>::max()) {
    fail(ErrorCode::resource_limit, "{} pooled rows, at most 4294967295 can be tested", n);
  }
  TestPool pool{x, y, {}, {}};
  pool.order.resize(n);
  std::vector<std::uint64_t> keys = row_keys(pool, natural, threads);
  // Sums do not depend on the order of rows, and the smaller one first not on which sample is X.
  const auto border = keys.begin() + static_cast<std::ptrdiff_t>(x.size());
  const auto [low, high] = std::minmax(
      {std::accumulate(keys.begin(), border, std::uint64_t{0}), std::accumulate(border, keys.end(), std::uint64_t{0})});
  pool.permutation_seed = Seed{mix(mix(identity, low), high)};
  for (std::size_t i = 0; i < n; ++i) keys[i] = (mix(identity, keys[i]) & 0xffffffff00000000ULL) | i;
  sort_ascending(keys);
  for (std::size_t k = 0; k < n; ++k) pool.order[k] = keys[k] & 0xffffffffULL;

  // Runs of equal half-hashes are equal rows, or rarely different ones, which are ordered by their values. Equal
  // rows are shuffled, since bits hashed from their indices leave some interleavings of X and Y likelier than others;
  // by the permutation seed, since with one shuffle for all data sets the position of an equal row would give its
  // label.
  RandomStream shuffling(pool.permutation_seed, Purpose::row_order);
  const auto before = [&](std::size_t a, std::size_t b) {
    const auto by_values = std::ranges::lexicographical_compare(natural.row(a), natural.row(b));
    if (by_values || std::ranges::lexicographical_compare(natural.row(b), natural.row(a))) return by_values;
    const double weight_a = pool.weight_of_row(a);
    const double weight_b = pool.weight_of_row(b);
    return weight_a != weight_b ? weight_a < weight_b : a < b;
  };
  const auto equal = [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(natural.row(a), natural.row(b)) && pool.weight_of_row(a) == pool.weight_of_row(b);
  };
  const std::span order(pool.order);
  for_each_run(
      0, n, [&](std::size_t k) { return keys[k] >> 32U == keys[k - 1] >> 32U; },
      [&](std::size_t begin, std::size_t end) {
        std::ranges::sort(order.subspan(begin, end - begin), before);
        for_each_run(
            begin, end, [&](std::size_t k) { return equal(order[k], order[k - 1]); },
            [&](std::size_t first, std::size_t last) { shuffle(order.subspan(first, last - first), shuffling); });
      });
  return pool;
}

void require_weight_of_both(double of_x, double of_y) {
  constexpr double kLeastShare = 1e-5;  // its square is still above what the squares of the others are rounded by
  if (std::min(of_x, of_y) >= kLeastShare * (of_x + of_y)) return;
  fail(
      ErrorCode::invalid_weights,
      "a permutation leaves a sample with {:.2g} of the weight, too little for this method to see its rows next to the "
      "others; method ekqd takes weights of any size",
      std::min(of_x, of_y) / (of_x + of_y));
}

TestPool make_summary_pool(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  const bool all_rows = x.size() + y.size() <= kMaxMedianPoints;  // in any order
  return all_rows ? TestPool{x, y, {}, {}} : make_test_pool(x, y, options.threads);
}

KernelSpec resolve_kernel(const MethodOptions& options, const Pool& pool, Warnings& warnings) {
  return resolve(options.kernel, pool, options.bandwidth_rule, options.seed, warnings);
}

KernelSpec resolve_on_test_pool(const SampleView& x, const SampleView& y, const MethodOptions& options,
                                Warnings& warnings) {
  return resolve_kernel(options, make_summary_pool(x, y, options).rows(), warnings);
}

std::vector<std::size_t> order_by_pairs(const TestPool& pool) {
  const std::size_t n = pool.x.size();
  std::vector<std::size_t> num_placed(n, 0);
  std::vector<std::size_t> rows(2 * n);
  for (const std::size_t row : pool.order) {
    const std::size_t pair = row < n ? row : row - n;
    rows[2 * pair + num_placed[pair]++] = row;
  }
  return rows;
}

}  // namespace kqd
