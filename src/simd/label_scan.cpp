#include "simd/label_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/fail.hpp"
#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/label_scan.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// The scan keeps, in one lane per labelling, a running integer S that gains `up` at an X label and loses `down` at a Y
// label, and adds |S| gap at each position. With up = N - nx and down = nx it is N (c_k - k nx/N), of at most nx ny in
// absolute value: exact in double lanes while N <= 2^27. With equal sizes up = down = 1 serve as well, |S| <= N/2, and
// float lanes are exact while N <= 2^25.
//
// What S gains is looked up, for all lanes of a vector at once, by the bits of their labels: one load instead of
// expanding bits, so that a step costs an addition, an absolute value and a multiply-add.

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 256 bits: eight float lanes have 256 patterns of labels, 8 KiB of steps; sixteen would have 65536.
template <class T>
using Lanes = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
constexpr std::size_t kLanes = hn::MaxLanes(Lanes<T>());
template <class T>
constexpr std::size_t kPatterns = std::size_t{1} << kLanes<T>;

constexpr std::size_t kBlock = 256;    // positions whose words and gaps are brought together before they are used
constexpr std::size_t kRun = 16;       // positions summed in lanes of type T before they go into doubles
constexpr std::size_t kAhead = 32;     // positions a prefetch runs ahead
constexpr std::size_t kVectors = 4;    // vectors of labellings in flight: with two sums each they fill 16 registers
constexpr std::size_t kWordBits = 64;  // labellings per word

// Steps for every pattern of labels: table[pattern * lanes + lane]. Vectors of labellings with sizes of their own have
// tables of their own, `stride` apart.
template <class T>
struct Steps {
  const T* table;
  std::size_t stride;
};

template <class T>
constexpr void fill_steps(T* table, std::size_t lane, T up, T down) {
  for (std::size_t pattern = 0; pattern < kPatterns<T>; ++pattern) {
    table[pattern * kLanes<T> + lane] = ((pattern >> lane) & 1U) != 0 ? up : -down;
  }
}

template <class T>
struct alignas(64) UnitSteps {
  constexpr UnitSteps() {
    for (std::size_t lane = 0; lane < kLanes<T>; ++lane) fill_steps<T>(table.data(), lane, T{1}, T{1});
  }
  std::array<T, kPatterns<T> * kLanes<T>> table{};
};
constexpr UnitSteps<float> kUnitSteps;

template <class T>
struct Block {
  alignas(64) std::array<std::uint64_t, kMaxLabelWords * kBlock> words;  // column by column, in sorted order
  alignas(64) std::array<T, kBlock> gaps;
  std::size_t size = 0;  // a multiple of kRun
};

// Brings positions [first, first + count) together; positions that only fill the last run have gap 0.
template <class T>
void fill_block(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale, std::size_t first,
                std::size_t count, Block<T>& block) {
  const std::uint32_t* order = pool.order.data() + first;
  const double* values = pool.values.data() + first;
  const std::size_t last_row = pool.num_rows() - first - 1;
  for (std::size_t i = 0; i < count; ++i) {
    hwy::Prefetch(&words(order[std::min(i + kAhead, last_row)], 0));
    const std::uint64_t* row = &words(order[i], 0);
    for (std::size_t column = 0; column < words.cols(); ++column) block.words[column * kBlock + i] = row[column];
  }
  for (std::size_t i = 0; i < count; ++i) block.gaps[i] = static_cast<T>((values[i + 1] - values[i]) * scale);
  block.size = hwy::RoundUpTo(count, kRun);
  for (std::size_t i = count; i < block.size; ++i) {
    block.gaps[i] = T{0};
    for (std::size_t column = 0; column < words.cols(); ++column) block.words[column * kBlock + i] = 0;
  }
}

HWY_INLINE void add_to(double* totals, Lanes<double> d, hn::Vec<Lanes<double>> sum) {
  hn::StoreU(hn::Add(hn::LoadU(d, totals), sum), d, totals);
}

HWY_INLINE void add_to(double* totals, [[maybe_unused]] Lanes<float> d, hn::Vec<Lanes<float>> sum) {
#if HWY_TARGET == HWY_SCALAR
  totals[0] += static_cast<double>(hn::GetLane(sum));
#else
  const hn::Half<Lanes<float>> half;
  const Lanes<double> wide;
  add_to(totals, wide, hn::PromoteTo(wide, hn::LowerHalf(half, sum)));
  add_to(totals + hn::Lanes(half), wide, hn::PromoteTo(wide, hn::UpperHalf(half, sum)));
#endif
}

// One block for the kVectors * kLanes labellings whose labels start at bit `shift` of each word.
template <class T>
void scan_vectors(const std::uint64_t* words, const T* gaps, std::size_t size, std::size_t shift, Steps<T> steps,
                  T* running, double* totals) {
  const Lanes<T> d;
  using V = hn::Vec<Lanes<T>>;
  constexpr std::size_t kL = kLanes<T>;
  V run[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) run[v] = hn::LoadU(d, running + v * kL);
  const auto step = [&](std::size_t k, V* sum) HWY_ATTR {
    const V gap = hn::Set(d, gaps[k]);
    const std::uint64_t labels = words[k] >> shift;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t pattern = (labels >> (v * kL)) & (kPatterns<T> - 1);
      run[v] = hn::Add(run[v], hn::Load(d, steps.table + v * steps.stride + pattern * kL));
      sum[v] = hn::MulAdd(hn::Abs(run[v]), gap, sum[v]);
    }
  };
  for (std::size_t k = 0; k < size; k += kRun) {
    V even[kVectors], odd[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Zero(d);
    for (std::size_t j = 0; j < kRun; j += 2) {
      step(k + j, even);
      step(k + j + 1, odd);
    }
    for (std::size_t v = 0; v < kVectors; ++v) add_to(totals + v * kL, d, hn::Add(even[v], odd[v]));
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(run[v], d, running + v * kL);
}

// totals[b] = sum |S_k| gap_k scale for every labelling, in the steps' units.
template <class T>
void scan(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale, Steps<T> steps,
          std::size_t num_labellings, double* totals) {
  constexpr std::size_t kTogether = kVectors * kLanes<T>;
  alignas(64) std::array<T, kMaxLabelWords * kWordBits> running{};
  Block<T> block;
  for (std::size_t first = 0; first + 1 < pool.num_rows(); first += kBlock) {
    fill_block(pool, words, scale, first, std::min(kBlock, pool.num_rows() - 1 - first), block);
    for (std::size_t b = 0; b < num_labellings; b += kTogether) {
      const Steps<T> own{steps.table + b / kLanes<T> * steps.stride, steps.stride};
      scan_vectors<T>(&block.words[b / kWordBits * kBlock], block.gaps.data(), block.size, b % kWordBits, own,
                      &running[b], totals + b);
    }
  }
}

void scan_equal(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale, std::size_t num_labellings,
                double* totals) {
  scan<float>(pool, words, scale, Steps<float>{kUnitSteps.table.data(), 0}, num_labellings, totals);
}

void scan_any(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale,
              std::span<const std::size_t> num_x, double* totals) {
  constexpr std::size_t kTable = kPatterns<double> * kLanes<double>;
  const bool same = std::ranges::all_of(num_x, [&](std::size_t n) { return n == num_x.front(); });
  const std::size_t num_tables = same ? 1 : words.cols() * kWordBits / kLanes<double>;
  Matrix<double> tables(num_tables, kTable, 0.0);
  for (std::size_t b = 0; b < (same ? kLanes<double> : num_x.size()); ++b) {
    const std::size_t n = same ? num_x.front() : num_x[b];
    fill_steps(tables.row(b / kLanes<double>).data(), b % kLanes<double>, static_cast<double>(pool.num_rows() - n),
               static_cast<double>(n));
  }
  scan<double>(pool, words, scale, Steps<double>{tables.data(), same ? 0 : kTable}, num_x.size(), totals);
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
HWY_EXPORT(scan_any);
HWY_EXPORT(scan_equal);

namespace {

using Totals = std::array<double, kMaxLabelWords * LabelBatch::kCapacity>;

constexpr std::size_t kMaxFloatRows = std::size_t{1} << 25U;

void check(const SortedPool& pool, [[maybe_unused]] MatrixView<const std::uint64_t> words,
           [[maybe_unused]] std::size_t num_labellings) {
  KQD_ASSERT(pool.order.size() == pool.num_rows() && words.rows() == pool.num_rows());
  KQD_ASSERT(words.cols() <= kMaxLabelWords && num_labellings <= words.cols() * LabelBatch::kCapacity);
  if (pool.num_rows() > kMaxScanRows) {
    fail(ErrorCode::resource_limit, "{} pooled rows, a label scan takes at most {}", pool.num_rows(), kMaxScanRows);
  }
}

// A power of two that brings the range of the values near 2^100: then |S| gap overflows in neither lane type, and gaps
// down to 2^-226 of the range keep their full precision as floats.
double gap_scale(const SortedPool& pool) {
  const double range = pool.values.back() - pool.values.front();
  if (!(range > 0.0) || std::isinf(range)) return 1.0;
  return std::ldexp(1.0, std::clamp(100 - std::ilogb(range), -1000, 1000));
}

}  // namespace

void label_scan(const SortedPool& pool, MatrixView<const std::uint64_t> words, std::span<const std::size_t> num_x,
                std::span<double> sums) {
  KQD_ASSERT(num_x.size() == sums.size());
  check(pool, words, sums.size());
  std::ranges::fill(sums, 0.0);
  if (pool.num_rows() < 2 || sums.empty()) return;
  Totals totals{};
  const double scale = gap_scale(pool);
  KQD_DISPATCH(scan_any)(pool, words, scale, num_x, totals.data());
  const auto num_rows = static_cast<double>(pool.num_rows());
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b] = totals[b] / scale / num_rows;
}

void label_scan_equal(const SortedPool& pool, MatrixView<const std::uint64_t> words, std::span<double> sums) {
  check(pool, words, sums.size());
  KQD_ASSERT(pool.num_rows() % 2 == 0);
  if (pool.num_rows() > kMaxFloatRows) {
    std::array<std::size_t, std::tuple_size_v<Totals>> num_x;
    num_x.fill(pool.num_rows() / 2);
    return label_scan(pool, words, std::span(num_x).first(sums.size()), sums);
  }
  std::ranges::fill(sums, 0.0);
  if (pool.num_rows() < 2 || sums.empty()) return;
  Totals totals{};
  const double scale = gap_scale(pool);
  KQD_DISPATCH(scan_equal)(pool, words, scale, sums.size(), totals.data());
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b] = totals[b] / (2.0 * scale);
}

// All terms are non-negative, so relative errors of the steps bound the relative error of the sum. A gap is rounded
// once in double and once to T; a sum of kRun terms in two chains of eight multiply-adds meets at most 8 + 1 roundings
// in T; adding num_rows/16 such sums, and scaling, are done in double. (1 + u)^m <= 1 + 1.01 m u for m u < 0.01.
double label_scan_relative_error(std::size_t num_rows) {
  return 1.01 * (static_cast<double>(num_rows) / 16.0 + 16.0) * 0x1p-53;
}

double label_scan_equal_relative_error(std::size_t num_rows) {
  return num_rows > kMaxFloatRows ? label_scan_relative_error(num_rows)
                                  : 1.01 * 10.0 * 0x1p-24 + label_scan_relative_error(num_rows);
}

}  // namespace kqd::simd
#endif
