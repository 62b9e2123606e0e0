#include "simd/assignment_rows.hpp"

#include "simd/target.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/assignment_rows.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
// clang-format: the order of these includes matters
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using I = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using VI = hn::Vec<I>;

// Takes an entry into the two smallest seen so far; entries come in any order of their columns.
HWY_INLINE void take(TwoSmallest& found, double value, std::size_t column) {
  if (value < found.smallest || (value == found.smallest && column < found.smallest_at)) {
    found.second = found.smallest;
    found.second_at = found.smallest_at;
    found.smallest = value;
    found.smallest_at = column;
  } else if (value < found.second || (value == found.second && column < found.second_at)) {
    found.second = value;
    found.second_at = column;
  }
}

TwoSmallest FindTwoSmallest(std::span<const double> costs, std::span<const double> prices) {
  const D d;
  const I i;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t n = costs.size();
  TwoSmallest found;
  std::size_t j = 0;
  if (n >= 2 * lanes) {
    // The two smallest of every lane, then of all lanes.
    V first = hn::Set(d, std::numeric_limits<double>::infinity());
    V second = first;
    VI first_at = hn::Zero(i);
    VI second_at = first_at;
    VI column = hn::Iota(i, 0);
    const VI step = hn::Set(i, static_cast<std::int64_t>(lanes));
    for (; j + lanes <= n; j += lanes) {
      const V value = hn::Sub(hn::LoadU(d, costs.data() + j), hn::LoadU(d, prices.data() + j));
      const auto is_first = hn::Lt(value, first);
      const auto is_second = hn::Lt(value, second);
      const VI displaced_at = hn::IfThenElse(hn::RebindMask(i, is_second), column, second_at);
      second_at = hn::IfThenElse(hn::RebindMask(i, is_first), first_at, displaced_at);
      second = hn::Min(second, hn::Max(first, value));
      first_at = hn::IfThenElse(hn::RebindMask(i, is_first), column, first_at);
      first = hn::Min(first, value);
      column = hn::Add(column, step);
    }
    HWY_ALIGN double values[hn::MaxLanes(d)];
    HWY_ALIGN std::int64_t columns[hn::MaxLanes(d)];
    hn::Store(first, d, values);
    hn::Store(first_at, i, columns);
    for (std::size_t lane = 0; lane < lanes; ++lane) take(found, values[lane], static_cast<std::size_t>(columns[lane]));
    hn::Store(second, d, values);
    hn::Store(second_at, i, columns);
    for (std::size_t lane = 0; lane < lanes; ++lane) take(found, values[lane], static_cast<std::size_t>(columns[lane]));
  }
  for (; j < n; ++j) take(found, costs[j] - prices[j], j);
  return found;
}

Nearest RelaxColumns(std::span<const double> costs, std::span<const double> prices, double offset, std::int64_t row,
                     std::span<const double> closed, std::span<double> distances, std::span<std::int64_t> reached_by) {
  const D d;
  const I i;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t n = costs.size();
  Nearest nearest;
  std::size_t j = 0;
  if (n >= lanes) {
    const V base = hn::Set(d, offset);
    const VI own = hn::Set(i, row);
    V best = hn::Set(d, nearest.distance);
    VI best_at = hn::Zero(i);
    VI column = hn::Iota(i, 0);
    const VI step = hn::Set(i, static_cast<std::int64_t>(lanes));
    for (; j + lanes <= n; j += lanes) {
      const V bar = hn::LoadU(d, closed.data() + j);
      const V reduced = hn::Sub(hn::LoadU(d, costs.data() + j), hn::LoadU(d, prices.data() + j));
      const V candidate = hn::Add(hn::Add(base, reduced), bar);
      const V known = hn::LoadU(d, distances.data() + j);
      const auto shorter = hn::Lt(candidate, known);
      const V distance = hn::Min(candidate, known);
      hn::StoreU(distance, d, distances.data() + j);
      const VI by = hn::IfThenElse(hn::RebindMask(i, shorter), own, hn::LoadU(i, reached_by.data() + j));
      hn::StoreU(by, i, reached_by.data() + j);
      const V open_distance = hn::Add(distance, bar);
      const auto nearer = hn::Lt(open_distance, best);
      best = hn::Min(open_distance, best);
      best_at = hn::IfThenElse(hn::RebindMask(i, nearer), column, best_at);
      column = hn::Add(column, step);
    }
    HWY_ALIGN double values[hn::MaxLanes(d)];
    HWY_ALIGN std::int64_t columns[hn::MaxLanes(d)];
    hn::Store(best, d, values);
    hn::Store(best_at, i, columns);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(columns[lane]);
      if (values[lane] < nearest.distance || (values[lane] == nearest.distance && at < nearest.column)) {
        nearest = {values[lane], at};
      }
    }
  }
  for (; j < n; ++j) {
    const double candidate = (offset + (costs[j] - prices[j])) + closed[j];
    if (candidate < distances[j]) {
      distances[j] = candidate;
      reached_by[j] = row;
    }
    if (distances[j] + closed[j] < nearest.distance) nearest = {distances[j] + closed[j], j};
  }
  return nearest;
}

}  // namespace HWY_NAMESPACE
}  // namespace kqd::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kqd::simd {

HWY_EXPORT(FindTwoSmallest);
HWY_EXPORT(RelaxColumns);

TwoSmallest two_smallest(std::span<const double> costs, std::span<const double> prices) {
  return KQD_DISPATCH(FindTwoSmallest)(costs, prices);
}
Nearest relax_columns(std::span<const double> costs, std::span<const double> prices, double offset, std::int64_t row,
                      std::span<const double> closed, std::span<double> distances, std::span<std::int64_t> reached_by) {
  return KQD_DISPATCH(RelaxColumns)(costs, prices, offset, row, closed, distances, reached_by);
}

}  // namespace kqd::simd
#endif
