#include "binomial.hpp"

#include <cmath>

namespace kqd::validation {
namespace {

double probability(std::size_t runs, double rate, std::size_t count) {
  if (rate <= 0.0 || rate >= 1.0) return count == (rate <= 0.0 ? 0 : runs) ? 1.0 : 0.0;
  const auto n = static_cast<double>(runs);
  const auto k = static_cast<double>(count);
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(rate) +
                  (n - k) * std::log1p(-rate));
}

}  // namespace

Band binomial_band(std::size_t runs, double rate, double false_alarm) {
  const double tail = 0.5 * false_alarm;
  Band band{0, runs};
  for (double below = probability(runs, rate, 0); below < tail; below += probability(runs, rate, band.lowest)) {
    ++band.lowest;
  }
  for (double above = probability(runs, rate, runs); above < tail; above += probability(runs, rate, band.highest)) {
    --band.highest;
  }
  return band;
}

}  // namespace kqd::validation
