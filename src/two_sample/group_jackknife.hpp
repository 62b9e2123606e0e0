#pragma once
#include "metrics/quantile/grouped_kqd_plan.hpp"
#include "two_sample/effect_interval.hpp"

namespace kqd {

/// An interval for the effect size of the two distributions, by leaving out one group at a time.
///
/// The variance is that of the jackknife for two samples, sum over samples of (K - 1) / K sum_u (e_u - mean)^2, where
/// e_u is the effect without group u of K, pooled scale included. Groups are what must be independent, so keys
/// and blocks get the interval that belongs to them. As in effect_interval(), T is biased upwards by noise, and the
/// centre is sqrt(max(0, T^2 - m^2)) with the permutation mean m; the ends are those of Student's t with the degrees of
/// freedom of the sample with fewer groups, not below 0, and stretched to hold the estimate. Valid away from the null
/// hypothesis.
[[nodiscard]] Interval group_jackknife(const GroupedKqdPlan& plan, const LabelBatch& observed,
                                       const EffectEstimate& estimate, double statistic, double confidence,
                                       ThreadCount threads);

}  // namespace kqd
