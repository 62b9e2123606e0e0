#pragma once
#include <cstddef>
#include <limits>
#include <span>

namespace kqd::simd {

/// The term of a pair of quantiles: g^power with g = |x - y|, or in the centered form g = sqrt(max(0, (x - y)^2 +
/// shift)) where shift = MMD^2 - c^2 [KQE Prop. 2]. A `scale` > 0 divides g first, and a quotient above 1 counts as 1:
/// with the largest g that has mass as the scale, powers stay finite and only pairs without mass are clipped.
struct GapRule {
  double power = 1.0;
  double scale = 0.0;
  double shift = 0.0;
  bool centered = false;
};

/// sum_j mass[j] g(x[j], y[j])^power; mass of size 0 means all ones. Sums of 512 terms are added in order with
/// compensation, so adding up costs at most 512/lanes + 6 roundings, relatively, whatever the length. Not finite when a
/// power is not, with mass or without.
[[nodiscard]] double gap_sum(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                             const GapRule& rule);

/// The largest g(x[j], y[j]) with mass[j] > 0, unscaled; 0 when there is none.
[[nodiscard]] double largest_gap(std::span<const double> x, std::span<const double> y, std::span<const double> mass,
                                 const GapRule& rule);

}  // namespace kqd::simd
