#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace kqd::test {

/// The type of the oracles: 64 bits of mantissa on x86, so that their rounding is far below that of doubles.
using Real = long double;

/// The unit roundoff of doubles: one operation is off by at most this, relatively.
inline constexpr double kUnit = 0x1p-53;

/// The relative error that n roundings may add up to: n u / (1 - n u) [Higham 2002, Lemma 3.1].
inline double roundings(double n) {
  return n * kUnit / (1.0 - n * kUnit);
}

/// EXPECT_TRUE(within(...)): |actual - expected| <= bound, judged in long double.
inline testing::AssertionResult within(Real actual, Real expected, Real bound) {
  const Real difference = std::abs(actual - expected);
  if (difference <= bound) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got " << actual << ", expected " << expected << ": off by " << difference
                                     << ", bound " << bound;
}

/// |f(v + e) - f(v)| over |e| <= error, for a monotone f.
inline Real spread(const std::function<Real(Real)>& f, Real v, Real error) {
  const Real here = f(v);
  return std::max(std::abs(f(v + error) - here), std::abs(f(v - error) - here));
}

}  // namespace kqd::test
