#pragma once
#include "kqd/two_sample/margin.hpp"

namespace kqd {

/// P(squared distance <= `squared`) where the true effect is `effect`: the distribution of (effect + s Z)^2 + R, with Z
/// Student's t and R a scaled chi-square that has the rest of the noise. Exact for one normal function and for
/// many with equal variances, where the number of groups is large.
[[nodiscard]] double squared_below(const EffectMoments& moments, double squared, double effect);

/// The largest effect for which the observed squared distance is exceeded with probability `tail` at most; 0 where
/// there is none.
[[nodiscard]] double lower_limit(const EffectMoments& moments, double tail);

/// The smallest effect for which a squared distance as small as the observed one has probability `tail` at most.
[[nodiscard]] double upper_limit(const EffectMoments& moments, double tail);

/// The squared distance that is not exceeded with this probability where the true effect is `effect`.
[[nodiscard]] double squared_quantile(const EffectMoments& moments, double probability, double effect);

/// The same estimate from `factor` times as many rows.
[[nodiscard]] EffectMoments with_more_rows(const EffectMoments& moments, double factor);

}  // namespace kqd
