#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "support/oracles.hpp"

namespace kqd::test {

/// A weighting as users spell it, with its distribution function written out.
struct Level {
  std::string text;
  LevelCdf cdf;
  /// A bound on the density over [1/n, 1 - 1/n], at least 1: what an error of a level is multiplied by.
  std::function<Real(std::size_t)> density_bound = [](std::size_t) { return Real{4}; };
};

inline Level sloped(const std::string& shape, double ratio, const std::function<Real(Real t, Real r)>& cdf) {
  return {shape + ":" + std::to_string(ratio), [=](Real t) { return cdf(t, ratio); }};
}

/// F(t) for t <= 1/2, mirrored above.
inline std::function<Real(Real, Real)> mirrored(const std::function<Real(Real, Real)>& lower) {
  return [=](Real t, Real r) { return t <= 0.5L ? lower(t, r) : 1 - lower(1 - t, r); };
}

/// The regularised incomplete beta function for whole a and b: a binomial tail.
inline LevelCdf beta_of_whole_numbers(int a, int b) {
  return [=](Real t) {
    const int n = a + b - 1;
    Real total = 0;
    Real binomial = 1;  // n over j
    for (int j = 0; j <= n; ++j) {
      if (j >= a) total += binomial * std::pow(t, Real(j)) * std::pow(1 - t, Real(n - j));
      binomial = binomial * Real(n - j) / Real(j + 1);
    }
    return total;
  };
}

/// One or more of every weighting.
inline std::vector<Level> levels() {
  std::vector<Level> list = {{"uniform", uniform_levels()}};
  for (const double ratio : {0.0, 0.25, 0.5}) {
    list.push_back(sloped("slope-up", ratio, [](Real t, Real r) { return (2 * r * t + (1 - r) * t * t) / (1 + r); }));
    list.push_back(sloped("slope-down", ratio, [](Real t, Real r) { return (2 * t - (1 - r) * t * t) / (1 + r); }));
    list.push_back(
        sloped("triangle", ratio, mirrored([](Real t, Real r) { return 2 * (r * t + (1 - r) * t * t) / (1 + r); })));
    list.push_back(sloped("reverse-triangle", ratio,
                          mirrored([](Real t, Real r) { return 2 * (t - (1 - r) * t * t) / (1 + r); })));
  }
  list.push_back({"interval:0.25:0.75", [](Real t) { return std::clamp<Real>((t - 0.25L) / 0.5L, 0, 1); }});
  list.push_back({"interval:0:0.5", [](Real t) { return std::clamp<Real>(t / 0.5L, 0, 1); }});
  list.push_back({"beta:2:5", beta_of_whole_numbers(2, 5)});
  list.push_back({"beta:1:1", uniform_levels()});
  list.push_back({"beta:4:1", beta_of_whole_numbers(4, 1)});
  // The arcsine distribution: its density is infinite at both ends, 1/(pi sqrt(t (1 - t))) in between.
  list.push_back({"beta:0.5:0.5", [](Real t) { return 2 / std::numbers::pi_v<Real> * std::asin(std::sqrt(t)); },
                  [](std::size_t n) { return 4 + std::sqrt(static_cast<Real>(n)); }});
  list.push_back({"atom:0.5", [](Real t) { return t >= 0.5L ? Real{1} : Real{0}; }});
  list.push_back({"atom:0", [](Real t) { return t > 0 ? Real{1} : Real{0}; }});
  list.push_back({"atom:1", [](Real t) { return t >= 1 ? Real{1} : Real{0}; }});
  return list;
}

}  // namespace kqd::test
