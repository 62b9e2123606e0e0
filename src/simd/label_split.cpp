#include "simd/label_split.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/fail.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/label_split.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After highway.h, which it needs.
#include "hwy/contrib/math/math-inl.h"

#ifndef KQD_SIMD_LABEL_SPLIT_ONCE
#define KQD_SIMD_LABEL_SPLIT_ONCE
namespace kqd::simd {
namespace {

// Sums run in eight lanes whatever the vector length: term k is added to lane k % 8, so that all instruction sets add
// the same numbers in the same order.
constexpr std::size_t kSumLanes = 8;
using LaneSums = std::array<double, kSumLanes>;

constexpr double kMaxWholePower = 64.0;  // whole powers up to here are multiplied out

constexpr std::size_t kTileWords = 8;  // words of each stream that one transposition makes: a cache line
constexpr std::size_t kTileRows = 64 * kTileWords;
constexpr std::size_t kChunk = 2048;  // values that are split and integrated while they are in L1
constexpr std::size_t kAhead = 32;    // rows a prefetch runs ahead

// The state of one permutation during the pass over the pool.
struct Splitting {
  const std::uint64_t* labels = nullptr;  // its stream
  LevelPieces pieces;
  SplitQueue* x = nullptr;
  SplitQueue* y = nullptr;
  std::size_t next_piece = 0;
  LaneSums integral{};
  LaneSums x_sum{};
};

}  // namespace
}  // namespace kqd::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace kqd::simd::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// ---- Labels: from one word per row to one stream per permutation ----

using Words = hn::CappedTag<std::uint64_t, 4>;
using WordVec = hn::Vec<Words>;

// Exchanges the off-diagonal quarters of each 2j x 2j block of bits that rows i and i + j hold.
template <int kDistance>
HWY_INLINE void swap_quarters(WordVec* rows, std::uint64_t low_halves) {
  const WordVec mask = hn::Set(Words(), low_halves);
  constexpr int kRows = kDistance >= 8 ? kDistance / 8 : kDistance;  // distance among the eight rows held
  for (int i = 0; i < 8; ++i) {
    if ((i & kRows) != 0) continue;
    WordVec& a = rows[i];
    WordVec& b = rows[i + kRows];
    const WordVec t = hn::And(hn::Xor(hn::ShiftRight<kDistance>(a), b), mask);
    a = hn::Xor(a, hn::ShiftLeft<kDistance>(t));
    b = hn::Xor(b, t);
  }
}

// Transposes eight 64 x 64 bit matrices at once: matrix l has its row i in tile[8 i + l].
void transpose_tile(std::uint64_t* tile) {
  const Words d;
  for (std::size_t column = 0; column < kTileWords; column += hn::Lanes(d)) {
    WordVec rows[8];
    for (std::size_t first = 0; first < 8; ++first) {
      for (std::size_t i = 0; i < 8; ++i) rows[i] = hn::LoadU(d, tile + (first + 8 * i) * kTileWords + column);
      swap_quarters<32>(rows, 0x00000000ffffffffU);
      swap_quarters<16>(rows, 0x0000ffff0000ffffU);
      swap_quarters<8>(rows, 0x00ff00ff00ff00ffU);
      for (std::size_t i = 0; i < 8; ++i) hn::StoreU(rows[i], d, tile + (first + 8 * i) * kTileWords + column);
    }
    for (std::size_t first = 0; first < 64; first += 8) {
      for (std::size_t i = 0; i < 8; ++i) rows[i] = hn::LoadU(d, tile + (first + i) * kTileWords + column);
      swap_quarters<4>(rows, 0x0f0f0f0f0f0f0f0fU);
      swap_quarters<2>(rows, 0x3333333333333333U);
      swap_quarters<1>(rows, 0x5555555555555555U);
      for (std::size_t i = 0; i < 8; ++i) hn::StoreU(rows[i], d, tile + (first + i) * kTileWords + column);
    }
  }
}

// Columns is std::size_t, or a constant for the compiler to see.
template <class Columns>
void make_streams(std::span<const std::uint32_t> order, MatrixView<const std::uint64_t> words, Columns columns,
                  std::size_t count, std::uint64_t* streams, std::size_t words_per_stream) {
  alignas(64) std::array<std::array<std::uint64_t, kTileRows>, kMaxLabelWords> tiles;
  for (std::size_t first = 0; first < order.size(); first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, order.size() - first);
    if (rows < kTileRows) tiles.fill({});
    for (std::size_t k = 0; k < rows; ++k) {
      hwy::Prefetch(&words(order[std::min(first + k + kAhead, order.size() - 1)], 0));
      const std::uint64_t* row = &words(order[first + k], 0);
      const std::size_t place = k % 64 * kTileWords + k / 64;
      for (std::size_t column = 0; column < columns; ++column) tiles[column][place] = row[column];
    }
    for (std::size_t column = 0; column < columns; ++column) transpose_tile(tiles[column].data());
    for (std::size_t b = 0; b < count; ++b) {
      std::copy_n(&tiles[b / 64][b % 64 * kTileWords], kTileWords, streams + b * words_per_stream + first / 64);
    }
  }
}

// ---- Values: from one sorted pool to two sorted groups ----

using Doubles = hn::CappedTag<double, 4>;
using Vec = hn::Vec<Doubles>;
constexpr std::size_t kLanes = hn::MaxLanes(Doubles());
constexpr std::size_t kVectors = kSumLanes / kLanes;
constexpr unsigned kPatterns = 1U << kLanes;
// Doubles move as pairs of 32-bit halves, which AVX2 can permute across a whole vector.
using Halves = hn::Repartition<std::uint32_t, Doubles>;

using Indices = std::array<std::uint32_t, 2 * kLanes>;

// How the lanes of a vector move, for every pattern of bits.
struct alignas(64) MoveTables {
  constexpr MoveTables() {
    for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
      unsigned x = 0, y = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const bool is_x = ((pattern >> lane) & 1U) != 0;
        move(spread[pattern], x, lane);
        is_x ? move(compress[pattern].x, lane, x++) : move(compress[pattern].y, lane, y++);
        keep_x[pattern][lane] = is_x ? ~std::uint64_t{0} : 0;
      }
      num_x[pattern] = x;
    }
  }
  static constexpr void move(Indices& indices, unsigned from, unsigned to) {
    indices[2 * to] = 2 * from;
    indices[2 * to + 1] = 2 * from + 1;
  }
  struct Groups {
    Indices x{}, y{};
  };
  std::array<Groups, kPatterns> compress{};                           // lanes with bit 1 and bit 0, each to the front
  std::array<Indices, kPatterns> spread{};                            // repeats a value until its bit is 1
  std::array<std::array<std::uint64_t, kLanes>, kPatterns> keep_x{};  // all bits of the lanes with bit 1
  std::array<std::size_t, kPatterns> num_x{};                         // how many bits are 1
};
constexpr MoveTables kMoves;

HWY_INLINE Vec permuted(Vec values, [[maybe_unused]] const Indices& indices) {
#if HWY_TARGET == HWY_SCALAR
  return values;
#else
  const Halves halves;
  const auto lanes = hn::SetTableIndices(halves, indices.data());
  return hn::BitCast(Doubles(), hn::TableLookupLanes(hn::BitCast(halves, values), lanes));
#endif
}

// Appends `count` values to the two groups, each value to both places but only one of them kept: no branch on a label.
// The sums of X add values[k] in lane k % 8.
template <bool kSumX>
HWY_NOINLINE void split(const double* values, const std::uint64_t* labels, std::size_t count, Splitting& s) {
  const Doubles d;
  double* x = s.x->make_room(count);
  double* y = s.y->make_room(count);
  const double* const first_x = x;
  Vec sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, s.x_sum.data() + v * kLanes);
  std::size_t k = 0;
  for (; k + 64 <= count; k += 64) {
    std::uint64_t word = labels[k / 64];
    for (std::size_t i = 0; i < 64; i += kSumLanes) {
      for (std::size_t v = 0; v < kVectors; ++v, word >>= kLanes) {
        const std::size_t pattern = word & (kPatterns - 1);
        const Vec value = hn::LoadU(d, values + k + i + v * kLanes);
        hn::StoreU(permuted(value, kMoves.compress[pattern].x), d, x);
        hn::StoreU(permuted(value, kMoves.compress[pattern].y), d, y);
        x += kMoves.num_x[pattern];
        y += kLanes - kMoves.num_x[pattern];
        if constexpr (kSumX) {
          const hn::RebindToUnsigned<Doubles> bits;
          sum[v] = hn::Add(sum[v], hn::And(value, hn::BitCast(d, hn::Load(bits, kMoves.keep_x[pattern].data()))));
        }
      }
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, s.x_sum.data() + v * kLanes);
  for (; k < count; ++k) {
    const std::size_t is_x = (labels[k / 64] >> (k % 64)) & 1U;
    *x = *y = values[k];
    x += is_x;
    y += 1 - is_x;
    if (is_x != 0) s.x_sum[k % kSumLanes] += values[k];
  }
  const auto num_x = static_cast<std::size_t>(x - first_x);
  s.x->push(num_x);
  s.y->push(count - num_x);
}

// ---- Integrands: the term of a piece ----

struct FirstPower {
  Vec operator()(Vec difference) const { return hn::Abs(difference); }
};
struct SecondPower {
  Vec operator()(Vec difference) const { return hn::Mul(difference, difference); }
};
struct ThirdPower {
  Vec operator()(Vec difference) const { return hn::Mul(hn::Abs(difference), hn::Mul(difference, difference)); }
};
struct WholePower {
  unsigned power;
  Vec operator()(Vec difference) const {
    Vec base = hn::Abs(difference);
    Vec result = hn::Set(Doubles(), 1.0);
    for (unsigned left = power;; base = hn::Mul(base, base)) {
      if ((left & 1U) != 0) result = hn::Mul(result, base);
      if ((left >>= 1U) == 0) return result;
    }
  }
};
struct RealPower {
  double power;
  Vec operator()(Vec difference) const {
    const Doubles d;
    const Vec base = hn::Abs(difference);
    const Vec exponent = hn::Mul(hn::Set(d, power), hn::Log(d, base));
    // Exp is made for arguments up to 706, Log for arguments above 0.
    const Vec finite = hn::IfThenElse(hn::Gt(exponent, hn::Set(d, 706.0)), hn::Inf(d), hn::Exp(d, exponent));
    return hn::IfThenElseZero(hn::Gt(base, hn::Zero(d)), finite);
  }
};
struct Largest : FirstPower {};

template <class Integrand>
HWY_INLINE Vec plus_piece(const Integrand& integrand, Vec sum, Vec x, Vec y, [[maybe_unused]] const double* mass) {
  const Doubles d;
  Vec value = integrand(hn::Sub(x, y));
  if constexpr (std::is_same_v<Integrand, Largest>) {
    if (mass != nullptr) value = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, mass), hn::Zero(d)), value);
    return hn::Max(sum, value);
  } else {
    if (mass != nullptr) value = hn::Mul(value, hn::LoadU(d, mass));
    return hn::Add(sum, value);
  }
}

// ---- Integration: pieces whose values are available ----

// Eight pieces with their own x, y and, unless null, mass.
template <class Integrand>
HWY_INLINE void add_eight(const Integrand& integrand, const double* x, const double* y, const double* mass, Vec* sum) {
  const Doubles d;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t at = v * kLanes;
    sum[v] = plus_piece(integrand, sum[v], hn::LoadU(d, x + at), hn::LoadU(d, y + at),
                        mass == nullptr ? nullptr : mass + at);
  }
}

// Equal sizes: piece k compares the k-th x with the k-th y. Returns how many pieces were added, a multiple of eight.
template <class Integrand>
std::size_t add_pairs(const Integrand& integrand, std::size_t available, Splitting& s, Vec* sum) {
  const std::size_t count = available / kSumLanes * kSumLanes;
  const double* x = s.x->front();
  const double* y = s.y->front();
  if (s.pieces.mass.empty()) {
    for (std::size_t k = 0; k < count; k += kSumLanes) add_eight(integrand, x + k, y + k, nullptr, sum);
  } else {
    const double* mass = s.pieces.mass.data() + s.next_piece;
    for (std::size_t k = 0; k < count; k += kSumLanes) add_eight(integrand, x + k, y + k, mass + k, sum);
  }
  s.x->pop(count);
  s.y->pop(count);
  return count;
}

// Bit i of the result is bit `which` of byte i.
HWY_INLINE unsigned gather_bits(std::uint64_t bytes, unsigned which) {
  return static_cast<unsigned>((((bytes >> which) & 0x0101010101010101U) * 0x0102040810204080U) >> 56U);
}

// Any sizes: the steps determine how the two groups advance. Returns how many pieces were added, a multiple of eight.
template <class Integrand>
std::size_t add_steps(const Integrand& integrand, Splitting& s, Vec* sum) {
  const Doubles d;
  const std::size_t num_pieces = s.pieces.count;
  const double* x = s.x->front();
  const double* y = s.y->front();
  const double* const end_x = x + s.x->size();
  const double* const end_y = y + s.y->size();
  const double* mass = s.pieces.mass.empty() ? nullptr : s.pieces.mass.data();
  std::size_t k = s.next_piece;
  for (; k + kSumLanes <= num_pieces; k += kSumLanes) {
    std::uint64_t steps = 0;
    std::memcpy(&steps, s.pieces.step.data() + k, sizeof(steps));
    if constexpr (std::endian::native == std::endian::big) steps = __builtin_bswap64(steps);
    unsigned next_x = gather_bits(steps, 0);
    unsigned next_y = gather_bits(steps, 1);
    if (end_x - x <= std::popcount(next_x & 0x7fU) || end_y - y <= std::popcount(next_y & 0x7fU)) break;
    for (std::size_t v = 0; v < kVectors; ++v) {
      const unsigned pattern_x = next_x & (kPatterns - 1);
      const unsigned pattern_y = next_y & (kPatterns - 1);
      sum[v] = plus_piece(integrand, sum[v], permuted(hn::LoadU(d, x), kMoves.spread[pattern_x]),
                          permuted(hn::LoadU(d, y), kMoves.spread[pattern_y]),
                          mass == nullptr ? nullptr : mass + k + v * kLanes);
      x += kMoves.num_x[pattern_x];
      y += kMoves.num_x[pattern_y];
      next_x >>= kLanes;
      next_y >>= kLanes;
    }
  }
  s.x->pop(static_cast<std::size_t>(x - s.x->front()));
  s.y->pop(static_cast<std::size_t>(y - s.y->front()));
  return k - s.next_piece;
}

// The pieces that do not fill eight lanes, with pieces of difference 0 next to them.
template <class Integrand>
void add_rest(const Integrand& integrand, Splitting& s, Vec* sum) {
  LaneSums x{}, y{}, mass{};
  for (std::size_t i = 0; s.next_piece < s.pieces.count; ++i, ++s.next_piece) {
    KQD_ASSERT(i < kSumLanes && s.x->size() > 0 && s.y->size() > 0);
    x[i] = *s.x->front();
    y[i] = *s.y->front();
    mass[i] = s.pieces.mass.empty() ? 1.0 : s.pieces.mass[s.next_piece];
    const unsigned step = s.pieces.step.empty() ? 3U : s.pieces.step[s.next_piece];
    s.x->pop(step & 1U);
    s.y->pop((step >> 1U) & 1U);
  }
  add_eight(integrand, x.data(), y.data(), mass.data(), sum);
}

template <class Integrand>
HWY_NOINLINE void integrate(const Integrand& integrand, bool last, Splitting& s) {
  const Doubles d;
  Vec sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, s.integral.data() + v * kLanes);
  s.next_piece += s.pieces.step.empty() ? add_pairs(integrand, std::min(s.x->size(), s.y->size()), s, sum)
                                        : add_steps(integrand, s, sum);
  if (last) add_rest(integrand, s, sum);
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, s.integral.data() + v * kLanes);
}

template <class Integrand>
void run(const Integrand& integrand, std::span<const double> values, bool with_sums, std::span<Splitting> together) {
  for (std::size_t first = 0; first < values.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, values.size() - first);
    const bool last = first + count == values.size();
    for (Splitting& s : together) {
      (with_sums ? split<true> : split<false>)(values.data() + first, s.labels + first / 64, count, s);
      integrate(integrand, last, s);
    }
  }
}

}  // namespace

void run_labels(std::span<const std::uint32_t> order, MatrixView<const std::uint64_t> words, std::size_t count,
                std::uint64_t* streams, std::size_t words_per_stream) {
  if (words.cols() == 1) {
    make_streams(order, words, std::integral_constant<std::size_t, 1>(), count, streams, words_per_stream);
  } else {
    make_streams(order, words, words.cols(), count, streams, words_per_stream);
  }
}

void run_split(std::span<const double> values, double power, bool with_sums, std::span<Splitting> together) {
  if (std::isinf(power)) return run(Largest{}, values, with_sums, together);
  if (power == 1.0) return run(FirstPower{}, values, with_sums, together);
  if (power == 2.0) return run(SecondPower{}, values, with_sums, together);
  if (power == 3.0) return run(ThirdPower{}, values, with_sums, together);
  if (power > 3.0 && power <= kMaxWholePower && power == std::floor(power)) {
    return run(WholePower{static_cast<unsigned>(power)}, values, with_sums, together);
  }
  return run(RealPower{power}, values, with_sums, together);
}

}  // namespace kqd::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {
HWY_EXPORT(run_labels);
HWY_EXPORT(run_split);

namespace {

template <class Combine>
double fold(LaneSums lanes, Combine combine) {
  for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) lanes[i] = combine(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}

}  // namespace

void LabelSplitter::set_labels(std::span<const std::uint32_t> order, MatrixView<const std::uint64_t> words,
                               std::size_t count) {
  KQD_ASSERT(order.size() == words.rows() && words.cols() <= kMaxLabelWords && count <= 64 * words.cols());
  num_rows_ = order.size();
  count_ = count;
  // One line more than needed: streams whose lengths are powers of two would compete for the same places in cache.
  words_per_stream_ = (num_rows_ + kTileRows - 1) / kTileRows * kTileWords + kTileWords;
  bits_.resize(count_ * words_per_stream_);
  KQD_DISPATCH(run_labels)(order, words, count_, bits_.data(), words_per_stream_);
}

void LabelSplitter::integrate(std::span<const double> values, std::span<const LevelPieces> pieces, double power,
                              std::span<double> integrals, std::span<double> x_sums) {
  KQD_ASSERT(values.size() == num_rows_ && integrals.size() == count_ && power > 0.0);
  KQD_ASSERT(pieces.size() == 1 || pieces.size() == count_);
  KQD_ASSERT(x_sums.empty() || x_sums.size() == count_);
  for (std::size_t first = 0; first < count_; first += kTogether) {
    std::array<Splitting, kTogether> together;
    const std::size_t size = std::min(kTogether, count_ - first);
    for (std::size_t i = 0; i < size; ++i) {
      x_[i].clear();
      y_[i].clear();
      together[i].labels = bits_.data() + (first + i) * words_per_stream_;
      together[i].pieces = pieces.size() == 1 ? pieces.front() : pieces[first + i];
      together[i].x = &x_[i];
      together[i].y = &y_[i];
    }
    KQD_DISPATCH(run_split)(values, power, !x_sums.empty(), std::span(together).first(size));
    for (std::size_t i = 0; i < size; ++i) {
      const auto larger = [](double a, double b) { return std::max(a, b); };
      integrals[first + i] =
          std::isinf(power) ? fold(together[i].integral, larger) : fold(together[i].integral, std::plus<>());
      if (!x_sums.empty()) x_sums[first + i] = fold(together[i].x_sum, std::plus<>());
    }
  }
}

// All terms are non-negative, so the relative errors of the steps bound that of the sum. With u = 2^-53 a difference
// errs by u, hence its power by p u; multiplying it out costs at most p more, the mass one, the sum of K terms in
// eight lanes K/8 + 3. A real power is exp(p log a): log and exp are within 1 ulp = 2u [Highway], the product within u,
// so the argument errs by 3u |p log a| <= 3u 745 (beyond that no normal double is left), and exp by 2u more.
double label_split_relative_error(std::size_t num_pieces, double power) {
  constexpr double kUnit = 0x1p-53;
  if (std::isinf(power)) return kUnit;
  const bool whole = power == std::floor(power) && power <= kMaxWholePower;
  const double of_power = whole ? 2.0 * power : power + 3.0 * 745.0 + 2.0;
  return 1.01 * (of_power + static_cast<double>(num_pieces) / static_cast<double>(kSumLanes) + 5.0) * kUnit;
}

}  // namespace kqd::simd
#endif
