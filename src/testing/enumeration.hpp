#pragma once
#include <cstdint>
#include <span>

#include "testing/exchange.hpp"

namespace kqd {

/// n over k; the largest 64-bit number when it does not fit.
[[nodiscard]] std::uint64_t binomial_coefficient(std::uint64_t n, std::uint64_t k);

/// How many permutations the strata allow; the largest 64-bit number when it does not fit.
[[nodiscard]] std::uint64_t count_permutations(std::span<const Stratum> strata);

/// Sets bit b of the unit words, b < count <= 64, to permutation number first + b: number 0 is the observed one, the
/// others follow in a fixed order, each once. Needs first + count <= count_permutations(), below the largest number.
void enumerate_labels(const Exchange& exchange, std::uint64_t first, unsigned count, std::span<std::uint64_t> units);

}  // namespace kqd
