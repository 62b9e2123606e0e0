// The experiments on the theory of the paper, with few repeats: their numbers against closed forms. Bands are five
// standard errors, which normal errors leave with probability 6e-7.
#include "experiments/theory.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace kqd::lab {
namespace {

RateSettings small_settings() {
  return {.rows = {100, 400, 1600},
          .directions = {4, 16, 64},
          .repeats = 100,
          .many_directions = 4096,
          .seed = Seed{1},
          .threads = ThreadCount{2}};
}

// The expected curve without error bars.
double slope_of(std::vector<SizedError> expected) {
  for (SizedError& at : expected) at.standard_error = 0.0;
  return fit_power_law(expected).slope;
}

void expect_errors(const RateCurve& curve, const std::vector<SizedError>& expected) {
  ASSERT_EQ(curve.errors.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(curve.errors[k].error, expected[k].error, 5.0 * curve.errors[k].standard_error)
        << curve.label << " at " << expected[k].size;
  }
  EXPECT_NEAR(curve.fit.slope, slope_of(expected), 5.0 * curve.fit.standard_error) << curve.label;
}

// The quantile of level a of u(X), X uniform and u falling, is u of the order statistic of rank n + 1 - ceil(a n),
// which has a beta distribution: the mean square error is an integral, here by the midpoint rule over its levels.
TEST(EmbeddingRates, are_those_of_order_statistics) {
  const auto u = [](double x) { return std::exp(-0.5 * x * x); };
  const std::vector<RateCurve> curves = embedding_rates(small_settings());
  const std::vector<double> levels = {0.1, 0.5, 0.75};
  ASSERT_EQ(curves.size(), levels.size());
  for (std::size_t k = 0; k < levels.size(); ++k) {
    std::vector<SizedError> expected;
    for (const SizedError& at : curves[k].errors) {
      const double rank = at.size + 1.0 - std::round(levels[k] * at.size);  // all are whole numbers here
      const boost::math::beta_distribution<double> place(rank, at.size + 1.0 - rank);
      constexpr int kCells = 2000;
      double square = 0.0;
      for (int j = 0; j < kCells; ++j) {
        const double x = boost::math::quantile(place, (j + 0.5) / kCells);
        square += std::pow(u(x) - u(1.0 - levels[k]), 2) / kCells;
      }
      expected.push_back({at.size, std::sqrt(square), 0.0});
    }
    expect_errors(curves[k], expected);
    // And these approach the slope of the theorem: the limit has the factor that the figure draws.
    EXPECT_NEAR(expected.back().error * std::sqrt(expected.back().size), *curves[k].factor, 0.05 * *curves[k].factor);
  }
}

// In one column the error is that of a difference of means, at every n. In the others terms of higher order are below
// 5 % at n = 100: they change the slope by less than log(1.05) / log(16).
TEST(RowRates, have_slope_minus_one_half) {
  for (const RateCurve& curve : row_rates(small_settings())) {
    if (curve.factor) {
      std::vector<SizedError> expected = curve.errors;
      for (SizedError& at : expected) at.error = *curve.factor / std::sqrt(at.size);
      expect_errors(curve, expected);
    } else {
      EXPECT_NEAR(curve.fit.slope, -0.5, 5.0 * curve.fit.standard_error + std::log(1.05) / std::log(16.0))
          << curve.label;
    }
  }
}

// A mean of l independent values less one of L of them: variance (1/l + 1/L) of a single value's.
TEST(DirectionRates, are_those_of_a_mean) {
  const RateSettings settings = small_settings();
  for (const RateCurve& curve : direction_rates(settings)) {
    std::vector<SizedError> expected = curve.errors;
    for (SizedError& at : expected) {
      at.error = *curve.factor * std::sqrt(1.0 / at.size + 1.0 / static_cast<double>(settings.many_directions));
    }
    expect_errors(curve, expected);
  }
}

// [KQE Prop. 2]: centered^2 = e-KQD_2^2 + MMD^2 - mean gap^2, where the mean gap is at most either: so the centered
// form is at least each of the others and at most the root of the sum of their squares.
void expect_between(const Interpolants& at) {
  const double squared = at.ekqd * at.ekqd + at.mmd * at.mmd - at.mean_gap * at.mean_gap;
  EXPECT_NEAR(at.centered * at.centered, squared, 1e-12 * squared) << at.x;
  EXPECT_GE(at.centered, std::max(at.mmd, at.ekqd) * (1.0 - 1e-12)) << at.x;
  EXPECT_LE(at.centered, std::hypot(at.mmd, at.ekqd) * (1.0 + 1e-12)) << at.x;
}

TEST(Interpolation, goes_from_mmd_to_sliced_wasserstein_as_shift_becomes_spread) {
  const std::size_t rows = 1000;
  const std::vector<Interpolants> found = from_shift_to_spread(rows, 64, Seed{2}, ThreadCount{1});
  for (const Interpolants& at : found) expect_between(at);
  // Without a change of spread the centered projections differ by chance: W_2^2 of two samples of n normal numbers is
  // about 2 log(log n) / n, 0.4 % of 1. Twice as much has room for chance.
  EXPECT_LT(found.front().centered, found.front().mmd * std::sqrt(1.008));
  EXPECT_GT(found.front().centered, 1.5 * found.front().ekqd);  // sqrt(3) in the limit
  // Without a shift MMD^2 is |difference of means|^2, 5/n times a chi-square variable with 3 degrees of freedom, which
  // is above 36 with probability 7e-8.
  EXPECT_LT(found.back().mmd, std::sqrt(5.0 * 36.0 / static_cast<double>(rows)));
  EXPECT_LT(found.back().centered * found.back().centered,
            found.back().ekqd * found.back().ekqd + 5.0 * 36.0 / static_cast<double>(rows));
}

TEST(Interpolation, goes_from_mmd_to_sliced_wasserstein_as_the_kernel_widens) {
  const std::vector<Interpolants> found = by_bandwidth(500, 64, Seed{2}, ThreadCount{1});
  for (const Interpolants& at : found) expect_between(at);
  EXPECT_GT(found.front().mmd, 0.95 * found.front().centered);
  EXPECT_LT(found.front().ekqd, 0.5 * found.front().centered);
  EXPECT_LT(found.back().mmd, 0.05 * found.back().centered);
  EXPECT_GT(found.back().ekqd, 0.99 * found.back().centered);
}

double moment(const Sample& sample, int order) {
  double total = 0.0;
  for (std::size_t k = 0; k < sample.weights.size(); ++k) {
    total += sample.weights[k] * std::pow(sample.points(k, 0), order);
  }
  return total;
}

// MMD^2 = sum_i C(T, i) (difference of i-th moments)^2 for the kernel (x y + 1)^T.
TEST(SameMoments, mmd_is_zero_to_rounding_while_kqd_is_not) {
  const std::vector<double> of_normal = {1, 0, 1, 0, 3, 0};
  for (int order = 0; order <= 5; ++order) {
    EXPECT_NEAR(moment(four_points(), order), of_normal[static_cast<std::size_t>(order)], 1e-14);
    EXPECT_NEAR(moment(three_points(), order), of_normal[static_cast<std::size_t>(order)], 1e-14);
  }
  EXPECT_NEAR(moment(four_points(), 6) - moment(three_points(), 6), 6.0, 1e-12);
  const double widest = 4.0 + std::sqrt(6.0);  // x^2 + 1
  for (std::size_t degree = 1; degree <= 6; ++degree) {
    const MomentDistances found = polynomial_distances(four_points(), three_points(), degree, 32, Seed{3});
    // 49 terms of a quadratic form, each with a few roundings of a kernel value.
    const double rounding =
        std::sqrt(49.0 * 8.0 * std::numeric_limits<double>::epsilon() * std::pow(widest, static_cast<double>(degree)));
    EXPECT_NEAR(found.mmd, degree == 6 ? 6.0 : 0.0, rounding) << degree;
    EXPECT_GT(found.ekqd, 0.25) << degree;
    EXPECT_GT(found.ekqd, 1e3 * (degree == 6 ? 0.0 : rounding)) << degree;
  }
}

// Degree 1: u(x) = s x + c with s^2 + c^2 = 1, so tau_1 = |s| W_1(P, Q) <= W_1(P, Q), an integral of two staircases.
TEST(SameMoments, linear_directions_see_the_wasserstein_distance) {
  constexpr int kCells = 120'000;
  const auto quantile = [](const Sample& sample, double level) {
    std::size_t k = 0;
    while (level > sample.weights[k] && k + 1 < sample.weights.size()) level -= sample.weights[k++];
    return sample.points(k, 0);
  };
  double wasserstein = 0.0;
  for (int j = 0; j < kCells; ++j) {
    const double level = (j + 0.5) / kCells;
    wasserstein += std::abs(quantile(four_points(), level) - quantile(three_points(), level)) / kCells;
  }
  const double found = polynomial_distances(four_points(), three_points(), 1, 32, Seed{3}).ekqd;
  EXPECT_LT(found, wasserstein + 1e-3);
  EXPECT_GT(found, 0.5 * wasserstein);
}

}  // namespace
}  // namespace kqd::lab
