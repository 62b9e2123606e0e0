#pragma once
#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kqd/synthetic/problems.hpp"

namespace kqd::test {

/// Rows for checks of moments.
inline constexpr std::size_t kMany = 200'000;

inline std::vector<double> column(const Sample& sample, std::size_t j) {
  std::vector<double> values(sample.points.rows());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = sample.points(i, j);
  return values;
}

/// f of every value.
template <class F>
std::vector<double> map(std::span<const double> values, F f) {
  std::vector<double> mapped;
  mapped.reserve(values.size());
  for (const double v : values) mapped.push_back(f(v));
  return mapped;
}

/// The mean is within five standard errors of the one expected, for values whose variance is known: right values miss
/// it with probability 6e-7, and as seeds are fixed they either always pass or never.
inline void expect_mean(std::span<const double> values, double mean, double variance, const std::string& what) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, mean, 5.0 * std::sqrt(variance / n)) << what;
}

/// The share of values <= t is within five standard errors of a probability.
inline void expect_probability_below(std::span<const double> values, double t, double probability) {
  expect_mean(map(values, [t](double v) { return v <= t ? 1.0 : 0.0; }), probability, probability * (1.0 - probability),
              "P(value <= " + std::to_string(t) + ")");
}

/// Mean 0, variance v and fourth moment 3 v^2, as N(0, v) has them: the variances of z, z^2 and z^4 are v, 2 v^2, 96
/// v^4.
inline void expect_normal(std::span<const double> values, double v) {
  expect_mean(values, 0.0, v, "mean");
  expect_mean(map(values, [](double z) { return z * z; }), v, 2.0 * v * v, "variance");
  expect_mean(map(values, [](double z) { return z * z * z * z; }), 3.0 * v * v, 96.0 * std::pow(v, 4), "fourth moment");
  for (const double z : {-2.0, -1.0, 0.0, 0.5, 1.5}) {
    expect_probability_below(values, z * std::sqrt(v), 0.5 * std::erfc(-z / std::sqrt(2.0)));
  }
}

inline double chi_square(std::span<const double> counts, std::span<const double> probabilities) {
  double total = 0.0;
  for (const double c : counts) total += c;
  double chi2 = 0.0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = total * probabilities[k];
    chi2 += (counts[k] - expected) * (counts[k] - expected) / expected;
  }
  return chi2;
}

/// The value that chi-square with this many degrees of freedom exceeds with probability 1e-6.
inline double chi_square_bound(std::size_t degrees_of_freedom) {
  const boost::math::chi_squared distribution(static_cast<double>(degrees_of_freedom));
  return boost::math::quantile(boost::math::complement(distribution, 1e-6));
}

inline void expect_equally_likely(std::span<const double> counts) {
  const std::vector<double> probabilities(counts.size(), 1.0 / static_cast<double>(counts.size()));
  EXPECT_LT(chi_square(counts, probabilities), chi_square_bound(counts.size() - 1));
}

}  // namespace kqd::test
