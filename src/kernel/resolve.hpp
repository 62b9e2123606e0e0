#pragma once
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/bandwidth.hpp"

namespace kqd {

/// A bandwidth is computed from at most this many rows, drawn at random where there are more.
inline constexpr std::size_t kMaxMedianPoints = 1000;

/// resolve() for a pool in any order.
[[nodiscard]] KernelSpec resolve(const KernelSpec& spec, const Pool& pool, BandwidthRule rule, Seed seed,
                                 Warnings& warnings);

/// pooled_distances() for a pool in any order.
[[nodiscard]] std::vector<double> pooled_distances(const Pool& pool, DistanceKind kind, Seed seed);

}  // namespace kqd
