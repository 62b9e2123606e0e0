#include "simd/label_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/fail.hpp"
#include "kqd/core/labels.hpp"
#include "kqd/core/matrix.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/label_scan.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// The scan keeps, in one lane per permutation, a running integer S that gains `up` at an X label and loses `down` at a
// Y label, and adds |S| gap at each position. With up = N - nx and down = nx it is N (c_k - k nx/N), of at most nx ny
// in absolute value: exact in double lanes while N <= 2^27. With equal sizes up = down = 1 serve as well, |S| <= N/2,
// and float lanes are exact while N <= 2^25.
//
// The increment of S is looked up, for all lanes of a vector at once, by the bits of their labels: one load instead of
// expanding bits, so that a step costs an addition, an absolute value (or a square) and a multiply-add.

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// At most 256 bits: eight float lanes have 256 patterns of labels, 8 KiB of steps; sixteen would have 65536.
template <class T>
using Lanes = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
constexpr std::size_t kLanes = hn::MaxLanes(Lanes<T>());
template <class T>
constexpr std::size_t kPatterns = std::size_t{1} << kLanes<T>;

constexpr std::size_t kBlock = 256;  // positions whose words and gaps are brought together before they are used
constexpr std::size_t kRun = 16;     // positions summed in lanes of type T before they go into doubles
constexpr std::size_t kCachedBytes = std::size_t{1} << 18U;  // words of so many bytes stay in L2: no prefetch needed
constexpr std::size_t kAhead = 32;                           // positions a prefetch runs ahead
constexpr std::size_t kVectors = 4;    // vectors of permutations in flight: with two sums each they fill 16 registers
constexpr std::size_t kWordBits = 64;  // permutations per word

// Steps for every pattern of labels: table[pattern * lanes + lane].
template <class T>
constexpr std::size_t kTable = kPatterns<T>* kLanes<T>;

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
  std::array<T, kTable<T>> table{};
};
constexpr UnitSteps<float> kUnitSteps;

template <class T>
struct Block {
  alignas(64) std::array<std::uint64_t, kMaxLabelWords * kBlock> words;  // column by column, in sorted order
  alignas(64) std::array<T, kBlock> gaps;
  std::size_t size = 0;  // a multiple of kRun
};

// Columns and Stride are std::size_t, or constants for the compiler to see.
template <class T, class Columns, class Stride>
HWY_INLINE void gather_words(const SortedPool& pool, MatrixView<const std::uint64_t> labels, Columns columns,
                             Stride stride, std::size_t first, std::size_t count, Block<T>& block) {
  const std::uint64_t* words = labels.data();
  const std::uint32_t* order = pool.order.data() + first;
  const auto gather = [&](std::size_t i) HWY_ATTR {
    const std::uint64_t* row = words + order[i] * stride;
    for (std::size_t column = 0; column < columns; ++column) block.words[column * kBlock + i] = row[column];
  };
  if (labels.rows() * stride * sizeof(std::uint64_t) <= kCachedBytes) {
    for (std::size_t i = 0; i < count; ++i) gather(i);
  } else {
    const std::size_t last = pool.num_rows() - first - 1;
    for (std::size_t i = 0; i < count; ++i) {
      hwy::Prefetch(words + order[std::min(i + kAhead, last)] * stride);
      gather(i);
    }
  }
}

// Brings positions [first, first + count) together; positions that only fill the last run have gap 0.
template <class T>
void fill_block(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale, std::size_t first,
                std::size_t count, Block<T>& block) {
  constexpr std::integral_constant<std::size_t, 1> kOne;
  if (words.row_stride() == 1) {
    gather_words(pool, words, kOne, kOne, first, count, block);
  } else {
    gather_words(pool, words, words.cols(), words.row_stride(), first, count, block);
  }
  const double* values = pool.values.data() + first;
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

// The labels of kVectors * kLanes permutations, from bit `shift` of a word on.
template <class T>
HWY_INLINE std::uint64_t labels_at(const std::uint64_t* word, std::size_t shift) {
  constexpr std::size_t kBytes = kVectors * kLanes<T> / 8;
  if constexpr (std::endian::native == std::endian::little && kBytes > 0) {
    std::uint64_t labels = 0;
    std::memcpy(&labels, reinterpret_cast<const unsigned char*>(word) + shift / 8, kBytes);
    return labels;
  } else {
    return *word >> shift;
  }
}

enum class Term { absolute, square };

template <Term kTerm, class V>
HWY_INLINE V size_of(V running) {
  if constexpr (kTerm == Term::absolute) {
    return hn::Abs(running);
  } else {
    return hn::Mul(running, running);
  }
}

// One block for the kVectors * kLanes permutations whose labels start at bit `shift` of each word. Vectors of
// permutations have tables of their own if kOwn.
template <class T, bool kOwn, Term kTerm>
void scan_vectors(const std::uint64_t* words, const T* gaps, std::size_t size, std::size_t shift, const T* steps,
                  T* running, double* totals) {
  const Lanes<T> d;
  using V = hn::Vec<Lanes<T>>;
  constexpr std::size_t kL = kLanes<T>;
  V run[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) run[v] = hn::Load(d, running + v * kL);
  const auto step = [&](std::size_t k, V* sum) HWY_ATTR {
    const V gap = hn::Set(d, gaps[k]);
    const std::uint64_t labels = labels_at<T>(words + k, shift);
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t pattern = (labels >> (v * kL)) & (kPatterns<T> - 1);
      run[v] = hn::Add(run[v], hn::Load(d, steps + (kOwn ? v * kTable<T> : 0) + pattern * kL));
      sum[v] = hn::MulAdd(size_of<kTerm>(run[v]), gap, sum[v]);
    }
  };
  for (std::size_t k = 0; k < size; k += kRun) {
    V even[kVectors], odd[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Zero(d);
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < kRun; j += 2) {
      step(k + j, even);
      step(k + j + 1, odd);
    }
    for (std::size_t v = 0; v < kVectors; ++v) add_to(totals + v * kL, d, hn::Add(even[v], odd[v]));
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::Store(run[v], d, running + v * kL);
}

// totals[b] = sum |S_k| gap_k scale, or sum S_k^2 gap_k scale, for every permutation, in the steps' units.
template <class T, bool kOwn, Term kTerm>
void scan(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale, const T* steps,
          std::size_t permutation_count, double* totals) {
  constexpr std::size_t kTogether = kVectors * kLanes<T>;
  alignas(64) std::array<T, kMaxLabelWords * kWordBits> running{};
  Block<T> block;
  for (std::size_t first = 0; first + 1 < pool.num_rows(); first += kBlock) {
    fill_block(pool, words, scale, first, std::min(kBlock, pool.num_rows() - 1 - first), block);
    for (std::size_t b = 0; b < permutation_count; b += kTogether) {
      scan_vectors<T, kOwn, kTerm>(&block.words[b / kWordBits * kBlock], block.gaps.data(), block.size, b % kWordBits,
                                   steps + (kOwn ? b / kLanes<T> * kTable<T> : 0), &running[b], totals + b);
    }
  }
}

// Steps of up = N - nx and down = nx for permutations of any sizes.
template <Term kTerm>
void scan_sizes(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale,
                std::span<const std::size_t> num_x, double* totals) {
  const auto fill = [&](std::size_t lane, std::size_t n, std::span<double> table) {
    fill_steps(table.data(), lane, static_cast<double>(words.rows() - n), static_cast<double>(n));
  };
  const bool same = std::ranges::all_of(num_x, [&](std::size_t n) { return n == num_x.front(); });
  Matrix<double> tables(same ? 1 : words.cols() * kWordBits / kLanes<double>, kTable<double>, 0.0);
  if (same) {
    for (std::size_t lane = 0; lane < kLanes<double>; ++lane) fill(lane, num_x.front(), tables.row(0));
  } else {
    for (std::size_t b = 0; b < num_x.size(); ++b) fill(b % kLanes<double>, num_x[b], tables.row(b / kLanes<double>));
  }
  (same ? scan<double, false, kTerm> : scan<double, true, kTerm>)(pool, words, scale, tables.data(), num_x.size(),
                                                                  totals);
}

}  // namespace

void scan_equal(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale,
                std::size_t permutation_count, double* totals) {
  scan<float, false, Term::absolute>(pool, words, scale, kUnitSteps.table.data(), permutation_count, totals);
}

void scan_any(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale,
              std::span<const std::size_t> num_x, double* totals) {
  scan_sizes<Term::absolute>(pool, words, scale, num_x, totals);
}

void scan_squares(const SortedPool& pool, MatrixView<const std::uint64_t> words, double scale,
                  std::span<const std::size_t> num_x, double* totals) {
  scan_sizes<Term::square>(pool, words, scale, num_x, totals);
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
HWY_EXPORT(scan_any);
HWY_EXPORT(scan_equal);
HWY_EXPORT(scan_squares);

namespace {

using Totals = std::array<double, kMaxLabelWords * LabelBatch::kCapacity>;

constexpr std::size_t kMaxFloatRows = std::size_t{1} << 25U;

void check([[maybe_unused]] const SortedPool& pool, MatrixView<const std::uint64_t> words,
           [[maybe_unused]] std::size_t permutation_count) {
  KQD_ASSERT(pool.order.size() == pool.num_rows() && words.rows() >= pool.num_rows());
  KQD_ASSERT(words.cols() <= kMaxLabelWords && permutation_count <= words.cols() * LabelBatch::kCapacity);
  if (words.rows() > kMaxScanRows) {
    fail(ErrorCode::resource_limit, "{} pooled rows, a label scan takes at most {}", words.rows(), kMaxScanRows);
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
  const auto num_rows = static_cast<double>(words.rows());
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b] = totals[b] / scale / num_rows;
}

void label_scan_squares(const SortedPool& pool, MatrixView<const std::uint64_t> words,
                        std::span<const std::size_t> num_x, std::span<double> sums) {
  KQD_ASSERT(num_x.size() == sums.size());
  check(pool, words, sums.size());
  std::ranges::fill(sums, 0.0);
  if (pool.num_rows() < 2 || sums.empty()) return;
  Totals totals{};
  const double scale = gap_scale(pool);
  KQD_DISPATCH(scan_squares)(pool, words, scale, num_x, totals.data());
  const auto num_rows = static_cast<double>(words.rows());
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b] = totals[b] / scale / num_rows / num_rows;
}

void label_scan_equal(const SortedPool& pool, MatrixView<const std::uint64_t> words, std::span<double> sums) {
  check(pool, words, sums.size());
  KQD_ASSERT(words.rows() % 2 == 0);
  if (words.rows() > kMaxFloatRows) {
    std::array<std::size_t, std::tuple_size_v<Totals>> num_x;
    num_x.fill(words.rows() / 2);
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
// in T, and a square one more; adding num_rows/16 such sums, and scaling, are done in double. (1 + u)^m <= 1 + 1.01 m u
// for m u < 0.01.
double label_scan_relative_error(std::size_t num_rows) {
  return 1.01 * (static_cast<double>(num_rows) / 16.0 + 16.0) * 0x1p-53;
}

double label_scan_equal_relative_error(std::size_t num_rows) {
  return num_rows > kMaxFloatRows ? label_scan_relative_error(num_rows)
                                  : 1.01 * 10.0 * 0x1p-24 + label_scan_relative_error(num_rows);
}

}  // namespace kqd::simd
#endif
