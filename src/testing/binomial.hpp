#pragma once
#include <cstdint>

namespace kqd {

/// P(Bin(n, p) >= k), 0 < p < 1.
[[nodiscard]] double binomial_upper_tail(std::uint64_t n, double p, std::uint64_t k);

/// The q-quantile of the Beta(a, b) distribution; a, b > 0.
[[nodiscard]] double beta_quantile(double q, double a, double b);

/// log of n over k, k <= n.
[[nodiscard]] double log_binomial_coefficient(std::uint64_t n, std::uint64_t k);

}  // namespace kqd
