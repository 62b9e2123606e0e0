#pragma once
#include "kqd/core/visibility.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd KQD_PUBLIC {

/// The unbiased estimate of MMD^2 [Gre12, Lemma 6]: signed, near 0 when the samples are alike. Reads only the
/// options kernel, bandwidth_rule, seed, threads and allow_quadratic. Needs two rows per sample. Cost: O(N^2 d).
[[nodiscard]] DistanceResult mmd(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

/// MMD_V = sqrt(h' K h), the distance between the mean embeddings of the samples themselves: >= 0.
[[nodiscard]] DistanceResult mmd_v(const SampleView& x, const SampleView& y, const MethodOptions& options = {});

}  // namespace kqd
