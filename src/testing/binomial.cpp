#include "testing/binomial.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace kqd {
namespace {

// Plain doubles throughout: long double differs between machines.
const boost::math::policies::policy<boost::math::policies::promote_double<false>> kPolicy;

}  // namespace

double binomial_upper_tail(std::uint64_t n, double p, std::uint64_t k) {
  if (k == 0) return 1.0;
  if (k > n) return 0.0;
  return boost::math::ibeta(static_cast<double>(k), static_cast<double>(n - k + 1), p, kPolicy);
}

double beta_quantile(double q, double a, double b) {
  return boost::math::ibeta_inv(a, b, q, kPolicy);
}

double log_binomial_coefficient(std::uint64_t n, std::uint64_t k) {
  const auto log_factorial = [](std::uint64_t m) { return boost::math::lgamma(static_cast<double>(m) + 1.0, kPolicy); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

}  // namespace kqd
