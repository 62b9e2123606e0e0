#pragma once
#include "kqd/core/sample.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/pvalue.hpp"

namespace kqd {

/// What the interval is made around.
struct EffectEstimate {
  double effect_size = 0.0;
  double permutation_mean = 0.0;  ///< of the statistic
  double pooled_scale = 1.0;
};

/// An interval for the effect size by half-samples (subsampling without replacement [PRW99]).
///
/// The statistic of a random half of each sample, with the same directions, deviates from that of the whole as the
/// whole deviates from the truth: Var(T_b - T_n) = s^2 (1/b - 1/n), which is s^2/n for b = n/2. The quantiles of 200
/// such deviations, turned around the estimate, are its ends. The upward bias of T on half the rows is taken as
/// sqrt(n/b) times the permutation mean. Valid where the statistic is asymptotically normal, that is away from the
/// null.
[[nodiscard]] Interval effect_interval(const MethodInfo& method, const KqdOptions& frozen, const SampleView& x,
                                       const SampleView& y, const EffectEstimate& estimate, double confidence);

}  // namespace kqd
