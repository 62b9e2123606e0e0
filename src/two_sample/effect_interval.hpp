#pragma once
#include "kqd/core/sample.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/testing/pvalue.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// The estimate that an interval is made for.
struct EffectEstimate {
  double effect_size = 0.0;
  double permutation_mean = 0.0;  ///< of the statistic
  double pooled_scale = 1.0;
  bool squares = false;  ///< the statistic is a squared distance
};

/// An interval for the effect size of the two distributions, by half-samples (subsampling without replacement [PRW99]).
///
/// The statistic of a random half of each sample, with the same directions, deviates from that of the whole as the
/// whole deviates from the truth: Var(T_b - T_n) = s^2 (1/b - 1/n), which is s^2/n for b = n/2. Quantiles of 199 such
/// statistics are the ends. They are not turned around the estimate: squares vary the more the larger they are, so
/// that a turned interval misses above (measured in docs/validity.md).
///
/// T is biased upwards, and more so on half the rows: by twice the permutation mean m where T is a square, and
/// sqrt(T^2 - 2 m^2) is taken where it is a root. The interval is stretched to hold the estimate, which for roots takes
/// away m itself and is too small where m is not. Valid where the statistic is asymptotically normal, that is away from
/// the null.
[[nodiscard]] Interval effect_interval(const Method& method, const MethodOptions& frozen, const SampleView& x,
                                       const SampleView& y, const EffectEstimate& estimate, double confidence);

}  // namespace kqd
