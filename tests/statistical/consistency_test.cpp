// Errors of the estimators on cases whose truth is known [KQE Theorems 3 and 5]: not only their rate n^-1/2 and l^-1/2
// but their size, which follows from the variance of order statistics and means. Repeated R times, a root mean square
// is good to 1/sqrt(2 R), relatively; bounds are five times that.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

const std::vector<std::size_t> kSizes = {100, 400, 1600, 6400};

// u(x) = exp(-x^2/2), the direction of a Gaussian kernel of width 1 at z = 0: of norm 1, and falling on x > 0.
double u(double x) {
  return std::exp(-x * x / 2);
}
std::shared_ptr<const Directions> direction() {
  return std::make_shared<KernelDirections>(Kernel(parse_kernel("gaussian@1")), Matrix<double>(1, 1, {0.0}),
                                            Matrix<double>(1, 1, {1.0}));
}

Sample uniform_sample(std::size_t n, double low, double high, test::Source& source) {
  Sample sample{Matrix<double>(n, 1), {}, {}};
  for (double& v : sample.points.values()) v = source.uniform(low, high);
  return sample;
}

// The slope of log error over log n by least squares. With errors good to 1/sqrt(2 R) it is good to
// 1/sqrt(2 R) / sqrt(sum (log n - mean)^2).
struct Slope {
  double value;
  double standard_error;
};
Slope fit_slope(const std::vector<std::size_t>& sizes, const std::vector<double>& errors, int repeats) {
  double mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    mean_x += std::log(static_cast<double>(sizes[i])) / static_cast<double>(sizes.size());
    mean_y += std::log(errors[i]) / static_cast<double>(sizes.size());
  }
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double dx = std::log(static_cast<double>(sizes[i])) - mean_x;
    xx += dx * dx;
    xy += dx * (std::log(errors[i]) - mean_y);
  }
  return {xy / xx, 1.0 / std::sqrt(2.0 * repeats * xx)};
}

// P uniform on [0, 1]: u(X) has the quantile u(1 - alpha) and the density 1/|u'(1 - alpha)| there, so that
// ||rho_{P_n} - rho_P|| = |q_n - q| has root mean square sqrt(alpha (1 - alpha)/n) |u'(1 - alpha)|, up to terms of
// relative order 1/(alpha (1 - alpha) n): below 7 % at n = 100, alpha in [0.2, 0.9].
TEST(KernelQuantileEmbeddingOfASample, approaches_that_of_the_distribution_at_the_known_rate) {
  const int repeats = 400;
  const auto directions = direction();
  for (const double alpha : {0.2, 0.5, 0.9}) {
    const double truth = u(1 - alpha);
    const double slope_of_u = (1 - alpha) * u(1 - alpha);
    std::vector<double> errors;
    for (const std::size_t n : kSizes) {
      double squares = 0;
      for (int r = 0; r < repeats; ++r) {
        test::Source source(1'000'000 * n + static_cast<std::uint64_t>(r));
        const KernelQuantileEmbedding embedding(uniform_sample(n, 0, 1, source), directions, ThreadCount{1});
        const double error = embedding.quantile({alpha, 0}) - truth;
        squares += error * error / repeats;
      }
      errors.push_back(std::sqrt(squares));
      const double expected = std::sqrt(alpha * (1 - alpha) / static_cast<double>(n)) * slope_of_u;
      const double higher_order = 0.7 / (alpha * (1 - alpha) * static_cast<double>(n));
      // At alpha = 0.9 the direction is nearly flat (u' = 0.1): curvature adds |u''| sd / (2 u'), squared.
      const double curvature = std::abs((1 - alpha) * (1 - alpha) - 1) * u(1 - alpha) / slope_of_u *
                               std::sqrt(alpha * (1 - alpha) / static_cast<double>(n));
      EXPECT_NEAR(errors.back() / expected, 1.0, 5.0 / std::sqrt(2.0 * repeats) + higher_order + curvature * curvature)
          << alpha << " " << n;
    }
    const Slope slope = fit_slope(kSizes, errors, repeats);
    EXPECT_NEAR(slope.value, -0.5, 5.0 * slope.standard_error) << alpha;
  }
}

// P uniform on [0, 1], Q on [0.5, 1.5]: q_P > q_Q throughout, so tau_1 = E u(X) - E u(Y), a difference of normal
// integrals. Samples keep that order but for chance of no weight, and the estimate is a difference of means with
// variance (Var u(X) + Var u(Y))/n.
TEST(EkqdOfSamples, approaches_that_of_the_distributions_at_the_known_rate) {
  const auto integral = [](double a, double b) {  // of u
    return std::sqrt(std::numbers::pi / 2) * (std::erf(b / std::numbers::sqrt2) - std::erf(a / std::numbers::sqrt2));
  };
  const auto integral_of_square = [](double a, double b) {
    return std::sqrt(std::numbers::pi) / 2 * (std::erf(b) - std::erf(a));
  };
  const double truth = integral(0, 1) - integral(0.5, 1.5);
  const double variance = integral_of_square(0, 1) - integral(0, 1) * integral(0, 1) + integral_of_square(0.5, 1.5) -
                          integral(0.5, 1.5) * integral(0.5, 1.5);
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1");
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = Matrix<double>(1, 1, {0.0});
  options.directions.coefficients = Matrix<double>(1, 1, {1.0});
  options.threads = ThreadCount{1};
  const int repeats = 400;
  std::vector<double> errors;
  for (const std::size_t n : kSizes) {
    double squares = 0;
    for (int r = 0; r < repeats; ++r) {
      test::Source source(2'000'000 * n + static_cast<std::uint64_t>(r));
      const Sample x = uniform_sample(n, 0, 1, source);
      const Sample y = uniform_sample(n, 0.5, 1.5, source);
      const double error = ekqd(x, y, options).statistic - truth;
      squares += error * error / repeats;
    }
    errors.push_back(std::sqrt(squares));
    const double expected = std::sqrt(variance / static_cast<double>(n));
    EXPECT_NEAR(errors.back() / expected, 1.0, 5.0 / std::sqrt(2.0 * repeats)) << n;
  }
  const Slope slope = fit_slope(kSizes, errors, repeats);
  EXPECT_NEAR(slope.value, -0.5, 5.0 * slope.standard_error);
}

// Two points of R^3 at distance 1 and uniform directions: e-KQD_1 is a mean of l values |u_1| with mean 1/2 and
// variance 1/3 - 1/4, whatever n is.
TEST(EkqdOverDirections, approaches_that_of_all_directions_at_the_known_rate) {
  const Sample x{Matrix<double>(1, 3, {0, 0, 0}), {}, {}};
  const Sample y{Matrix<double>(1, 3, {2.0 / 3, 2.0 / 3, 1.0 / 3}), {}, {}};
  const std::vector<std::size_t> counts = {4, 16, 64, 256, 1024};
  const int repeats = 1000;
  MethodOptions options;
  options.directions.family = DirectionFamily::linear;
  options.threads = ThreadCount{1};
  std::vector<double> errors;
  for (const std::size_t l : counts) {
    options.directions.num_directions = l;
    double squares = 0;
    for (int r = 0; r < repeats; ++r) {
      options.seed = Seed{1000 * l + static_cast<std::uint64_t>(r)};
      const double error = ekqd(x, y, options).statistic - 0.5;
      squares += error * error / repeats;
    }
    errors.push_back(std::sqrt(squares));
    EXPECT_NEAR(errors.back() * std::sqrt(12.0 * static_cast<double>(l)), 1.0, 5.0 / std::sqrt(2.0 * repeats)) << l;
  }
  const Slope slope = fit_slope(counts, errors, repeats);
  EXPECT_NEAR(slope.value, -0.5, 5.0 * slope.standard_error);
}

// Both at once, as the theorem has it: N(0, I) against N(a, I) in R^3 has e-KQD_1 = |a|/2 over uniform directions,
// since W_1 of two normal distributions of equal spread is the distance of their means. The error is at most that of
// the mean of l values |u.a|, |a| sqrt(1/12 l), plus that of two empirical distributions along a direction, each with
// E W_1(P_n, P) <= sqrt(1/n) integral sqrt(F (1 - F)) = 1.615/sqrt(n); both have root mean squares no larger.
TEST(EkqdOverDirectionsAndSamples, stays_within_the_sum_of_both_errors) {
  const double length = 1.2;
  const int repeats = 100;
  for (const std::size_t n : {50UL, 200UL, 800UL}) {
    for (const std::size_t l : {8UL, 64UL}) {
      double mean_error = 0;
      for (int r = 0; r < repeats; ++r) {
        test::Source source(3'000'000 * n + 1000 * l + static_cast<std::uint64_t>(r));
        const Sample x = test::normal_sample({n, 3}, source);
        Sample y = test::normal_sample({n, 3}, source);
        for (std::size_t i = 0; i < n; ++i) y.points(i, 1) += length;
        MethodOptions options;
        options.directions.family = DirectionFamily::linear;
        options.directions.num_directions = l;
        options.seed = Seed{static_cast<std::uint64_t>(r)};
        options.threads = ThreadCount{1};
        mean_error += std::abs(ekqd(x, y, options).statistic - length / 2) / repeats;
      }
      const double bound =
          length * std::sqrt(1.0 / 12.0 / static_cast<double>(l)) + 2.0 * 1.615 / std::sqrt(static_cast<double>(n));
      EXPECT_LT(mean_error, bound * (1.0 + 5.0 / std::sqrt(repeats))) << n << " " << l;
    }
  }
}

}  // namespace
}  // namespace kqd
