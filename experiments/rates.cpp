#include "experiments/rates.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace kqd {

Interval wilson_interval(Count count) {
  constexpr double kDeviate = 1.959963984540054;  // 0.975-quantile of the standard normal distribution
  const auto n = static_cast<double>(count.runs);
  const double rate = count.rate();
  const double scale = 1.0 + kDeviate * kDeviate / n;
  const double centre = (rate + 0.5 * kDeviate * kDeviate / n) / scale;
  const double half = kDeviate * std::sqrt(rate * (1.0 - rate) / n + 0.25 * kDeviate * kDeviate / (n * n)) / scale;
  // At rates 0 and 1 the ends are 0 and 1 up to rounding.
  return {count.successes == 0 ? 0.0 : centre - half, count.successes == count.runs ? 1.0 : centre + half};
}

double standardised_difference(Count a, Count b) {
  const auto runs_a = static_cast<double>(a.runs);
  const auto runs_b = static_cast<double>(b.runs);
  const double common = static_cast<double>(a.successes + b.successes) / (runs_a + runs_b);
  const double variance = common * (1.0 - common) * (1.0 / runs_a + 1.0 / runs_b);
  return variance > 0.0 ? (a.rate() - b.rate()) / std::sqrt(variance) : 0.0;
}

ChiSquare chi_square(std::span<const CountPair> pairs) {
  ChiSquare result;
  for (const auto& [a, b] : pairs) {
    const std::size_t successes = a.successes + b.successes;
    if (successes == 0 || successes == a.runs + b.runs) continue;
    const double difference = standardised_difference(a, b);
    result.statistic += difference * difference;
    ++result.degrees;
  }
  if (result.degrees == 0) return result;
  const boost::math::policies::policy<boost::math::policies::promote_double<false>> plain_doubles;
  result.pvalue =
      boost::math::gamma_q(0.5 * static_cast<double>(result.degrees), 0.5 * result.statistic, plain_doubles);
  return result;
}

SizedError root_mean_square(double size, std::span<const double> errors) {
  const auto count = static_cast<double>(errors.size());
  double mean = 0.0;
  for (const double error : errors) mean += error * error / count;
  double variance = 0.0;  // of a squared error
  for (const double error : errors) variance += (error * error - mean) * (error * error - mean) / (count - 1.0);
  const double root = std::sqrt(mean);
  return {size, root, std::sqrt(variance / count) / (2.0 * root)};
}

PowerLaw fit_power_law(std::span<const SizedError> errors) {
  const auto count = static_cast<double>(errors.size());
  double x_mean = 0.0;
  double y_mean = 0.0;
  for (const SizedError& at : errors) {
    x_mean += std::log(at.size) / count;
    y_mean += std::log(at.error) / count;
  }
  double spread = 0.0;
  double slope = 0.0;
  double variance = 0.0;
  for (const SizedError& at : errors) {
    const double x = std::log(at.size) - x_mean;
    const double relative = at.standard_error / at.error;
    spread += x * x;
    slope += x * (std::log(at.error) - y_mean);
    variance += x * x * relative * relative;
  }
  slope /= spread;
  return {slope, std::sqrt(variance) / spread, std::exp(y_mean - slope * x_mean)};
}

}  // namespace kqd
