// Sums whose order does not depend on the vector width. For the vector code of this folder only; included once per
// instruction set, after hwy/highway.h. No other file may add up the lanes of a vector (./dev lint).

#if defined(KQD_SIMD_LANE_SUM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef KQD_SIMD_LANE_SUM_INL_HPP
#undef KQD_SIMD_LANE_SUM_INL_HPP
#else
#define KQD_SIMD_LANE_SUM_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace kqd::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Terms [first, first + 8) of an array of `size` numbers, with `rest` in place of those beyond its end.
class EightTerms {
 public:
  using D = hn::CappedTag<double, 8>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kTerms = 8;
  static constexpr std::size_t kLanes = hn::MaxLanes(D());
  static constexpr std::size_t kVectors = kTerms / kLanes;

  HWY_INLINE EightTerms(const double* values, std::size_t first, std::size_t size, double rest = 0.0) {
    if (HWY_LIKELY(first + kTerms <= size)) {
      for (std::size_t v = 0; v < kVectors; ++v) vectors[v] = hn::LoadU(D(), values + first + v * kLanes);
    } else {
      HWY_ALIGN double padded[kTerms];
      for (std::size_t i = 0; i < kTerms; ++i) padded[i] = first + i < size ? values[first + i] : rest;
      for (std::size_t v = 0; v < kVectors; ++v) vectors[v] = hn::Load(D(), padded + v * kLanes);
    }
  }
  /// Eight times the same number.
  HWY_INLINE explicit EightTerms(double value) {
    for (V& vector : vectors) vector = hn::Set(D(), value);
  }
  V vectors[kVectors];
};

/// Eight running sums: term k goes to sum k % 8 whatever the vector width, and total() adds the eight in one fixed
/// tree. So the bits of a sum depend on its terms and their order only.
class LaneSum {
 public:
  using D = EightTerms::D;
  using V = EightTerms::V;
  static constexpr std::size_t kTerms = EightTerms::kTerms;
  static constexpr std::size_t kLanes = EightTerms::kLanes;
  static constexpr std::size_t kVectors = EightTerms::kVectors;

  HWY_INLINE LaneSum() {
    for (V& sum : sums_) sum = hn::Zero(D());
  }
  /// Eight more terms: sum v becomes add(v, sum v), for v = 0 .. kVectors - 1.
  template <class Add>
  HWY_INLINE void add(const Add& add) {
    for (std::size_t v = 0; v < kVectors; ++v) sums_[v] = add(v, sums_[v]);
  }
  HWY_INLINE void add_products(const EightTerms& a, const EightTerms& b) {
    for (std::size_t v = 0; v < kVectors; ++v) sums_[v] = hn::MulAdd(a.vectors[v], b.vectors[v], sums_[v]);
  }
  [[nodiscard]] HWY_INLINE double total() const {
    HWY_ALIGN double lanes[kTerms];
    for (std::size_t v = 0; v < kVectors; ++v) hn::Store(sums_[v], D(), lanes + v * kLanes);
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }

 private:
  V sums_[kVectors];
};

}  // namespace HWY_NAMESPACE
}  // namespace kqd::simd
HWY_AFTER_NAMESPACE();

#endif
