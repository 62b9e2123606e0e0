#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "support/rounding.hpp"

/// Straightforward versions of what the library computes, written to be read, in long double. They share no code with
/// it.
namespace kqd::test {

inline Real squared_distance(std::span<const double> x, std::span<const double> z) {
  Real total = 0;
  for (std::size_t k = 0; k < x.size(); ++k) total += (Real{x[k]} - z[k]) * (Real{x[k]} - z[k]);
  return total;
}

inline Real l1_distance(std::span<const double> x, std::span<const double> z) {
  Real total = 0;
  for (std::size_t k = 0; k < x.size(); ++k) total += std::abs(Real{x[k]} - z[k]);
  return total;
}

inline Real dot(std::span<const double> x, std::span<const double> z) {
  Real total = 0;
  for (std::size_t k = 0; k < x.size(); ++k) total += Real{x[k]} * z[k];
  return total;
}

/// sum |x_k z_k|: what the rounding of an inner product is relative to.
inline Real absolute_dot(std::span<const double> x, std::span<const double> z) {
  Real total = 0;
  for (std::size_t k = 0; k < x.size(); ++k) total += std::abs(Real{x[k]} * z[k]);
  return total;
}

/// A kernel as a plain function of two points.
using KernelFunction = std::function<Real(std::span<const double>, std::span<const double>)>;

/// exp(-r^2 / (2 s^2)).
inline KernelFunction gaussian_kernel(double s) {
  return [s](auto x, auto z) { return std::exp(-squared_distance(x, z) / (2 * Real{s} * s)); };
}

/// (x.z + c)^q.
inline KernelFunction polynomial_kernel(int degree, double offset) {
  return [=](auto x, auto z) { return std::pow(dot(x, z) + offset, Real{static_cast<double>(degree)}); };
}

/// sum_ij a_i b_j k(x_i, z_j).
inline Real mean_inner_product(const KernelFunction& k, MatrixView<const double> x, std::span<const double> a,
                               MatrixView<const double> z, std::span<const double> b) {
  Real total = 0;
  for (std::size_t i = 0; i < x.rows(); ++i) {
    for (std::size_t j = 0; j < z.rows(); ++j) total += Real{a[i]} * b[j] * k(x.row(i), z.row(j));
  }
  return total;
}

/// Weights 1/n.
inline std::vector<double> equal_weights(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}

/// MMD_V^2 of unweighted samples.
inline Real mmd_squared(const KernelFunction& k, MatrixView<const double> x, MatrixView<const double> y) {
  const auto a = equal_weights(x.rows());
  const auto b = equal_weights(y.rows());
  return mean_inner_product(k, x, a, x, a) + mean_inner_product(k, y, b, y, b) - 2 * mean_inner_product(k, x, a, y, b);
}

/// The distribution function of a measure over levels.
using LevelCdf = std::function<Real(Real)>;

inline LevelCdf uniform_levels() {
  return [](Real t) { return t; };
}

/// (sum_j mass_j gap_j^p)^(1/p), or the largest gap that has mass.
inline Real power_gap(std::span<const Real> gaps, std::span<const Real> masses, double p) {
  Real largest = 0;
  for (std::size_t j = 0; j < gaps.size(); ++j) {
    if (masses[j] > 0) largest = std::max(largest, gaps[j]);
  }
  if (largest == 0 || std::isinf(p)) return largest;
  Real total = 0;
  for (std::size_t j = 0; j < gaps.size(); ++j) {
    if (masses[j] > 0) total += masses[j] * std::pow(gaps[j] / largest, Real{p});
  }
  return largest * std::pow(total, 1 / Real{p});
}

/// Every value `times` times.
inline std::vector<double> repeated(const std::vector<double>& values, std::size_t times) {
  std::vector<double> result;
  for (const double v : values) result.insert(result.end(), times, v);
  return result;
}

/// The level j/n, rounded once: a level that a caller writes as 0.3 is the same number as 3/10.
inline Real level(std::size_t j, std::size_t n) {
  return static_cast<double>(j) / static_cast<double>(n);
}

/// tau_p between two lists of equally weighted numbers, by repeating both up to their least common multiple.
inline Real quantile_gap(std::vector<double> x, std::vector<double> y, const LevelCdf& cdf, double p) {
  const std::size_t n = std::lcm(x.size(), y.size());
  std::ranges::sort(x);
  std::ranges::sort(y);
  x = repeated(x, n / x.size());
  y = repeated(y, n / y.size());
  std::vector<Real> gaps(n);
  std::vector<Real> masses(n);
  for (std::size_t j = 0; j < n; ++j) {
    gaps[j] = std::abs(Real{x[j]} - y[j]);
    masses[j] = cdf(level(j + 1, n)) - cdf(level(j, n));
  }
  return power_gap(gaps, masses, p);
}

}  // namespace kqd::test
