#pragma once
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/kernel/bandwidth.hpp"

namespace kqd {

/// resolve() for a pool in any order.
[[nodiscard]] KernelSpec resolve(const KernelSpec& spec, const Pool& pool, BandwidthRule rule, Seed seed,
                                 std::vector<std::string>& warnings);

}  // namespace kqd
