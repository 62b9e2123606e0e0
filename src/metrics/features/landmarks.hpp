#pragma once
#include <cstddef>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/types.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// `count` different positions of the pool, every subset equally likely.
[[nodiscard]] std::vector<std::size_t> uniform_landmarks(const Pool& pool, std::size_t count, Seed seed);

/// `count` different positions of the pool, drawn by approximate ridge leverage scores: rows that few others represent
/// are likelier. Recursive halving [MM17], label-blind, O(N count^2).
[[nodiscard]] std::vector<std::size_t> leverage_landmarks(const Kernel& kernel, const Pool& pool, std::size_t count,
                                                          Seed seed, ThreadCount threads);

}  // namespace kqd
