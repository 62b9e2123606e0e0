#include "two_sample/boundary.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace kqd {
namespace {

// Digits in bits and steps of a search.
constexpr int kBits = 26;
constexpr std::uintmax_t kMostSteps = 60;
constexpr int kCells = 64;

// The noise across the true difference, as scale * chi-square.
struct AcrossNoise {
  double scale = 0.0;
  double freedom = 0.0;

  [[nodiscard]] bool is_zero() const { return !(scale > 0.0); }
};

AcrossNoise across_noise(const EffectMoments& moments) {
  const double mean = moments.noise - moments.along;
  const double half_variance = moments.noise_square - moments.along * moments.along;
  if (!(mean > 1e-9 * moments.noise) || !(half_variance > 1e-12 * moments.noise_square)) return {};
  // The mean of the noise is estimated from the groups as well.
  const double wider = half_variance * (1.0 + 2.0 / std::max(1.0, moments.groups - 1.0));
  return {wider / mean, mean * mean / wider};
}

// The distribution function of Student's t by that of a transformed normal [AS64, 26.7.8], to 0.001 for 9 degrees of
// freedom and 0.0001 for 30.
double student_below(double t, double freedom) {
  const double z = t * (1.0 - 0.25 / freedom) / std::sqrt(1.0 + 0.5 * t * t / freedom);
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The argument in [low, high] at which a rising function reaches a value; the nearer end if it does not.
template <class Function>
double solve(double low, double high, double value, const Function& function) {
  const auto above = [&](double at) { return function(at) - value; };
  const double at_low = above(low);
  const double at_high = above(high);
  if (at_low >= 0.0) return low;
  if (at_high <= 0.0) return high;
  std::uintmax_t steps = kMostSteps;
  const auto [from, to] = boost::math::tools::toms748_solve(above, low, high, at_low, at_high,
                                                            boost::math::tools::eps_tolerance<double>(kBits), steps);
  return 0.5 * (from + to);
}

double far(const EffectMoments& moments) {
  return 3.0 * (std::sqrt(moments.squared) + std::sqrt(moments.noise)) + 40.0 * std::sqrt(moments.along);
}

}  // namespace

double squared_below(const EffectMoments& moments, double squared, double effect) {
  if (squared < 0.0) return 0.0;
  const double root = std::sqrt(squared);
  const double spread = std::sqrt(moments.along);
  const AcrossNoise rest = across_noise(moments);
  if (!(spread > 0.0)) return effect <= root ? 1.0 : 0.0;
  const double freedom = std::max(1.0, moments.groups - 1.0);
  const auto cdf = [&](double u) { return student_below((u - effect) / spread, freedom); };
  if (rest.is_zero()) return cdf(root) - cdf(-root);
  // Sums the probability of cells of u = effect + s Z times that of the rest at their middles, substituting
  // u = root sin(v), which makes cells short where the rest has no room.
  const boost::math::chi_squared across(rest.freedom);
  double probability = 0.0;
  double before = cdf(-root);
  for (int k = 0; k < kCells; ++k) {
    const auto at = [&](double step) { return root * std::sin(std::numbers::pi * (step / kCells - 0.5)); };
    const double after = cdf(at(k + 1.0));
    const double u = at(k + 0.5);
    if (after > before) {
      probability += (after - before) * boost::math::cdf(across, std::max(0.0, squared - u * u) / rest.scale);
    }
    before = after;
  }
  return std::min(1.0, probability);
}

double lower_limit(const EffectMoments& moments, double tail) {
  const auto above = [&](double effect) { return 1.0 - squared_below(moments, moments.squared, effect); };
  if (above(0.0) > tail) return 0.0;
  return solve(0.0, far(moments), tail, above);
}

double upper_limit(const EffectMoments& moments, double tail) {
  const auto below = [&](double effect) { return -squared_below(moments, moments.squared, effect); };
  if (-below(0.0) <= tail) return 0.0;
  return solve(0.0, far(moments), -tail, below);
}

double squared_quantile(const EffectMoments& moments, double probability, double effect) {
  const double highest = std::pow(effect + far(moments), 2);
  return solve(0.0, highest, probability, [&](double squared) { return squared_below(moments, squared, effect); });
}

EffectMoments with_more_rows(const EffectMoments& moments, double factor) {
  EffectMoments more = moments;
  more.noise /= factor;
  more.noise_square /= factor * factor;
  more.along /= factor;
  return more;
}

}  // namespace kqd
