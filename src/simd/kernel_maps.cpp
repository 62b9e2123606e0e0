#include "simd/kernel_maps.hpp"

#include <algorithm>

#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/kernel_maps.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format: the order of these includes matters
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "simd/lane_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// values[i] = f(values[i]), whole vectors first, then the rest in one padded vector.
template <class F>
void transform(std::span<double> values, const F& f) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t n = values.size();
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, hn::LoadU(d, values.data() + i)), d, values.data() + i);
  if (i == n) return;
  HWY_ALIGN double rest[hn::MaxLanes(d)] = {};
  for (std::size_t j = i; j < n; ++j) rest[j - i] = values[j];
  hn::Store(f(d, hn::Load(d, rest)), d, rest);
  for (std::size_t j = i; j < n; ++j) values[j] = rest[j - i];
}

// Highway's Exp leaves its accurate range below -708, where the value is 0 to every digit kept here.
HWY_INLINE V exp_of_negative(D d, V x) {
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(d, -708.0)), hn::Exp(d, x));
}

// t = a sqrt v, held to where exp(-t) is 0: beyond it a factor such as t^2 could overflow, and infinity times 0 is NaN.
HWY_INLINE V scaled_distance(D d, V a, V v) {
  return hn::Min(hn::Mul(a, hn::Sqrt(v)), hn::Set(d, 1000.0));
}

HWY_INLINE V whole_power(D d, V base, unsigned exponent) {
  V result = hn::Set(d, 1.0);
  for (; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result = hn::Mul(result, base);
    base = hn::Mul(base, base);
  }
  return result;
}

void ApplyMap(Map map, double a, double b, std::span<double> values) {
  const D dd;
  const V va = hn::Set(dd, a);
  const V vb = hn::Set(dd, b);
  const V one = hn::Set(dd, 1.0);
  switch (map) {
    case Map::exponential:
      return transform(values, [&](D d, V v) { return exp_of_negative(d, hn::Neg(hn::Mul(va, v))); });
    case Map::exponential_root:
      return transform(values, [&](D d, V v) { return exp_of_negative(d, hn::Neg(hn::Mul(va, hn::Sqrt(v)))); });
    case Map::matern32:
      return transform(values, [&](D d, V v) {
        const V t = scaled_distance(d, va, v);
        return hn::Mul(hn::Add(one, t), exp_of_negative(d, hn::Neg(t)));
      });
    case Map::matern52:
      return transform(values, [&](D d, V v) {
        const V t = scaled_distance(d, va, v);
        const V factor = hn::Add(hn::Add(one, t), hn::Div(hn::Mul(t, t), hn::Set(d, 3.0)));
        return hn::Mul(factor, exp_of_negative(d, hn::Neg(t)));
      });
    case Map::inverse_power:
      if (b == 0.5) return transform(values, [&](D, V v) { return hn::Div(one, hn::Sqrt(hn::MulAdd(va, v, one))); });
      if (b == 1.0) return transform(values, [&](D, V v) { return hn::Div(one, hn::MulAdd(va, v, one)); });
      return transform(
          values, [&](D d, V v) { return exp_of_negative(d, hn::Neg(hn::Mul(vb, hn::Log1p(d, hn::Mul(va, v))))); });
    case Map::integer_power:
      return transform(values, [&](D d, V v) { return whole_power(d, hn::Add(v, va), static_cast<unsigned>(b)); });
    case Map::distance_power:
      if (b == 1.0) return transform(values, [](D, V v) { return hn::Sqrt(v); });
      if (b == 2.0) return;
      return transform(values, [&](D d, V v) {
        const V root = hn::Exp(d, hn::Mul(hn::Mul(vb, hn::Set(d, 0.5)), hn::Log(d, v)));
        return hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), root);
      });
  }
}

// Sums over the coordinates for kVectors vectors of points z from column j on: they stay in registers.
template <std::size_t kVectors, class Tag, class Term>
HWY_INLINE void pairwise_vectors(Tag d, std::span<const double> x, MatrixView<const double> z, std::size_t j,
                                 double* HWY_RESTRICT out, const Term& term) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Tag> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  const double* HWY_RESTRICT column = z.data() + j;
  for (std::size_t k = 0; k < x.size(); ++k, column += z.row_stride()) {
    const auto xk = hn::Set(d, x[k]);
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = term(hn::Sub(xk, hn::LoadU(d, column + v * lanes)), sums[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + j + v * lanes);
}

template <class Term>
HWY_INLINE void pairwise(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out,
                         const Term& term) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t m = z.cols();
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const auto row = x.row(i);
    double* const values = out.row(i).data();
    std::size_t j = 0;
    for (; j + 4 * lanes <= m; j += 4 * lanes) pairwise_vectors<4>(d, row, z, j, values, term);
    for (; j + lanes <= m; j += lanes) pairwise_vectors<1>(d, row, z, j, values, term);
    if (j == m) continue;
    if (m >= lanes) {
      pairwise_vectors<1>(d, row, z, m - lanes, values, term);  // the last vector overlaps the one before
    } else {
      for (; j < m; ++j) pairwise_vectors<1>(hn::CappedTag<double, 1>(), row, z, j, values, term);
    }
  }
}

void SquaredDistances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out) {
  pairwise(x, z, out, [](auto difference, auto total) { return hn::MulAdd(difference, difference, total); });
}

void L1Distances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out) {
  pairwise(x, z, out, [](auto difference, auto total) { return hn::Add(hn::Abs(difference), total); });
}

double Center(std::span<const double> x, std::span<const double> origin, std::span<double> out) {
  const std::size_t n = x.size();
  LaneSum total;
  const auto take = [&](std::size_t i, double* HWY_RESTRICT to) HWY_ATTR {
    const EightTerms from(x.data(), i, n);
    const EightTerms by(origin.data(), i, n);
    total.add([&](std::size_t v, LaneSum::V sum) HWY_ATTR {
      const auto moved = hn::Sub(from.vectors[v], by.vectors[v]);
      hn::StoreU(moved, LaneSum::D(), to + v * LaneSum::kLanes);
      return hn::MulAdd(moved, moved, sum);
    });
  };
  std::size_t i = 0;
  for (; i + LaneSum::kTerms <= n; i += LaneSum::kTerms) take(i, out.data() + i);
  if (i < n) {
    HWY_ALIGN double rest[LaneSum::kTerms];
    take(i, rest);
    std::copy_n(rest, n - i, out.data() + i);
  }
  return total.total();
}

double DistancesFromDots(double x_norm, std::span<const double> z_norms, std::span<double> dots) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t n = dots.size();
  const V norm = hn::Set(d, x_norm);
  V smallest = hn::Set(d, 1.0);
  const auto distance = [&](V z_norm, V dot) {
    const V total = hn::Add(norm, z_norm);
    const V result = hn::Max(hn::Zero(d), hn::NegMulAdd(hn::Set(d, 2.0), dot, total));
    // Two points in the origin have ratio 0: such a row is recomputed like any with a tiny ratio.
    smallest = hn::Min(smallest, hn::Div(result, hn::Max(total, hn::Set(d, 1e-300))));
    return result;
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(distance(hn::LoadU(d, z_norms.data() + i), hn::LoadU(d, dots.data() + i)), d, dots.data() + i);
  }
  if (i < n) {
    HWY_ALIGN double z_rest[hn::MaxLanes(d)] = {};
    HWY_ALIGN double dot_rest[hn::MaxLanes(d)] = {};
    for (std::size_t j = 0; j < lanes; ++j) {  // the last point again in the unused lanes: no false minimum
      z_rest[j] = z_norms[i + j < n ? i + j : n - 1];
      dot_rest[j] = dots[i + j < n ? i + j : n - 1];
    }
    hn::Store(distance(hn::Load(d, z_rest), hn::Load(d, dot_rest)), d, dot_rest);
    for (std::size_t j = i; j < n; ++j) dots[j] = dot_rest[j - i];
  }
  return hn::GetLane(hn::MinOfLanes(d, smallest));
}

}  // namespace HWY_NAMESPACE
}  // namespace kqd::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {

HWY_EXPORT(ApplyMap);
HWY_EXPORT(SquaredDistances);
HWY_EXPORT(L1Distances);
HWY_EXPORT(Center);
HWY_EXPORT(DistancesFromDots);

void apply_map(Map map, double a, double b, std::span<double> values) {
  KQD_DISPATCH(ApplyMap)(map, a, b, values);
}
void squared_distances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out) {
  KQD_DISPATCH(SquaredDistances)(x, z, out);
}
void l1_distances(MatrixView<const double> x, MatrixView<const double> z, MatrixView<double> out) {
  KQD_DISPATCH(L1Distances)(x, z, out);
}
double center(std::span<const double> x, std::span<const double> origin, std::span<double> out) {
  return KQD_DISPATCH(Center)(x, origin, out);
}
double distances_from_dots(double x_norm, std::span<const double> z_norms, std::span<double> dots) {
  return KQD_DISPATCH(DistancesFromDots)(x_norm, z_norms, dots);
}

}  // namespace kqd::simd
#endif
