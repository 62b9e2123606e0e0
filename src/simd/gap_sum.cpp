#include "simd/gap_sum.hpp"

#include <algorithm>
#include <cmath>

#include "core/summation.hpp"
#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/gap_sum.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format: the order of these includes matters
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "simd/lane_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {
using D = LaneSum::D;
using V = LaneSum::V;

constexpr std::size_t kBlock = 512;

HWY_INLINE V gap(D d, V x, V y, const GapRule& rule) {
  const V difference = hn::Sub(x, y);
  if (!rule.centered) return hn::Abs(difference);
  return hn::Sqrt(hn::Max(hn::Zero(d), hn::MulAdd(difference, difference, hn::Set(d, rule.shift))));
}

// Calls step(x, y, mass) for eight pairs at a time; the rest is padded with pairs of equal values and no mass.
template <class Step>
HWY_INLINE void for_each_eight(const double* HWY_RESTRICT x, const double* HWY_RESTRICT y,
                               const double* HWY_RESTRICT mass, std::size_t n, const Step& step) {
  std::size_t j = 0;
  for (; j + LaneSum::kTerms <= n; j += LaneSum::kTerms) {
    if (mass == nullptr) {
      step(EightTerms(x, j, n), EightTerms(y, j, n), EightTerms(1.0));
    } else {
      step(EightTerms(x, j, n), EightTerms(y, j, n), EightTerms(mass, j, n));
    }
  }
  if (j == n) return;
  HWY_ALIGN double rest[LaneSum::kTerms] = {};
  for (std::size_t i = 0; j + i < n; ++i) rest[i] = mass == nullptr ? 1.0 : mass[j + i];
  step(EightTerms(x, j, n), EightTerms(y, j, n), EightTerms(rest, 0, LaneSum::kTerms));
}

template <class Term>
HWY_INLINE double sum_of_blocks(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                                const GapRule& rule, const Term& term) {
  const D d;
  CompensatedSum total;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t n = HWY_MIN(kBlock, x.size() - begin);
    LaneSum sum;
    for_each_eight(x.data() + begin, y.data() + begin, mass.empty() ? nullptr : mass.data() + begin, n,
                   [&](const EightTerms& vx, const EightTerms& vy, const EightTerms& vm) {
                     sum.add([&](std::size_t v, V old) {
                       return hn::MulAdd(vm.vectors[v], term(gap(d, vx.vectors[v], vy.vectors[v], rule)), old);
                     });
                   });
    total.add(sum.total());
  }
  return total.value();
}

template <class Power>
HWY_INLINE double blockwise_sum(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                                const GapRule& rule, const Power& power) {
  if (rule.scale <= 0.0) return sum_of_blocks(x, y, mass, rule, power);
  const D d;
  const V one = hn::Set(d, 1.0);
  const V scale =
      hn::Set(d, rule.scale);  // divided by, not multiplied with its inverse: that of a denormal is infinite
  return sum_of_blocks(x, y, mass, rule, [&](V g) { return power(hn::Min(hn::Div(g, scale), one)); });
}

double GapSum(std::span<const double> x, std::span<const double> y, std::span<const double> mass, const GapRule& rule) {
  const D d;
  const double p = rule.power;
  if (p == 1.0) return blockwise_sum(x, y, mass, rule, [](V g) { return g; });
  if (p == 2.0) return blockwise_sum(x, y, mass, rule, [](V g) { return hn::Mul(g, g); });
  if (p == std::floor(p) && p <= 64.0) {
    const auto exponent = static_cast<unsigned>(p);
    return blockwise_sum(x, y, mass, rule, [&](V g) {
      V result = hn::Set(d, 1.0);
      V base = g;
      for (unsigned e = exponent; e != 0; e >>= 1U) {
        if ((e & 1U) != 0) result = hn::Mul(result, base);
        base = hn::Mul(base, base);
      }
      return result;
    });
  }
  return blockwise_sum(x, y, mass, rule, [&](V g) {
    // Exp is meant for [-708, 706]; far outside its result is arbitrary, so overflow is handled explicitly.
    const V exponent = hn::Mul(hn::Set(d, p), hn::Log(d, g));
    const V power = hn::Exp(d, hn::Min(hn::Max(exponent, hn::Set(d, -700.0)), hn::Set(d, 706.0)));
    const V value = hn::IfThenElse(hn::Gt(exponent, hn::Set(d, 706.0)), hn::Inf(d), power);
    return hn::IfThenElseZero(hn::Gt(g, hn::Zero(d)), value);
  });
}

double LargestGap(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                  const GapRule& rule) {
  const D d;
  V largest = hn::Zero(d);
  for_each_eight(x.data(), y.data(), mass.empty() ? nullptr : mass.data(), x.size(),
                 [&](const EightTerms& vx, const EightTerms& vy, const EightTerms& vm) {
                   for (std::size_t v = 0; v < LaneSum::kVectors; ++v) {
                     const V size = gap(d, vx.vectors[v], vy.vectors[v], rule);
                     largest = hn::Max(largest, hn::IfThenElseZero(hn::Gt(vm.vectors[v], hn::Zero(d)), size));
                   }
                 });
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

}  // namespace HWY_NAMESPACE
}  // namespace kqd::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {

HWY_EXPORT(GapSum);
HWY_EXPORT(LargestGap);

double gap_sum(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
               const GapRule& rule) {
  return KQD_DISPATCH(GapSum)(x, y, mass, rule);
}
double largest_gap(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                   const GapRule& rule) {
  return KQD_DISPATCH(LargestGap)(x, y, mass, rule);
}

}  // namespace kqd::simd
#endif
