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

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr std::size_t kBlock = 512;

HWY_INLINE V gap(D d, V x, V y, const GapRule& rule) {
  const V difference = hn::Sub(x, y);
  if (!rule.centered) return hn::Abs(difference);
  return hn::Sqrt(hn::Max(hn::Zero(d), hn::MulAdd(difference, difference, hn::Set(d, rule.shift))));
}

// Calls step(x, y, mass) for whole vectors of one block; the rest is padded with pairs of equal values and no mass.
template <class Step>
HWY_INLINE void for_each_vector(const double* HWY_RESTRICT x, const double* HWY_RESTRICT y,
                                const double* HWY_RESTRICT mass, std::size_t n, const Step& step) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V one = hn::Set(d, 1.0);
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    step(hn::LoadU(d, x + j), hn::LoadU(d, y + j), mass == nullptr ? one : hn::LoadU(d, mass + j));
  }
  if (j == n) return;
  HWY_ALIGN double px[hn::MaxLanes(d)] = {};
  HWY_ALIGN double py[hn::MaxLanes(d)] = {};
  HWY_ALIGN double pm[hn::MaxLanes(d)] = {};
  for (std::size_t i = 0; j + i < n; ++i) {
    px[i] = x[j + i];
    py[i] = y[j + i];
    pm[i] = mass == nullptr ? 1.0 : mass[j + i];
  }
  step(hn::Load(d, px), hn::Load(d, py), hn::Load(d, pm));
}

template <class Term>
HWY_INLINE double sum_of_blocks(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                                const GapRule& rule, const Term& term) {
  const D d;
  CompensatedSum total;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t n = HWY_MIN(kBlock, x.size() - begin);
    V sum = hn::Zero(d);
    for_each_vector(x.data() + begin, y.data() + begin, mass.empty() ? nullptr : mass.data() + begin, n,
                    [&](V vx, V vy, V vm) { sum = hn::MulAdd(vm, term(gap(d, vx, vy, rule)), sum); });
    total.add(hn::GetLane(hn::SumOfLanes(d, sum)));
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
    // Exp is meant for [-708, 706]; far outside it returns any number at all, so overflow has to be said aloud.
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
  for_each_vector(x.data(), y.data(), mass.empty() ? nullptr : mass.data(), x.size(), [&](V vx, V vy, V vm) {
    largest = hn::Max(largest, hn::IfThenElseZero(hn::Gt(vm, hn::Zero(d)), gap(d, vx, vy, rule)));
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
