// With the linear kernel and uniform directions e-KQD is the sliced Wasserstein distance [KQE Connection 1].
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::Real;

MethodOptions uniform_directions(std::size_t num_directions, double power) {
  MethodOptions options;
  options.directions.family = DirectionFamily::linear;
  options.directions.num_directions = num_directions;
  options.power = power;
  options.threads = ThreadCount{1};
  return options;
}

// E|u_1|^p on the sphere of R^d: Gamma(d/2) Gamma((p+1)/2) / (sqrt(pi) Gamma((d+p)/2)).
double mean_power(std::size_t dim, double p) {
  const auto d = static_cast<double>(dim);
  return std::exp(std::lgamma(d / 2) + std::lgamma((p + 1) / 2) - std::lgamma((d + p) / 2)) /
         std::sqrt(std::numbers::pi);
}

TEST(SlicedWasserstein, mean_powers_have_their_published_values) {
  EXPECT_NEAR(mean_power(3, 1), 1.0 / 2.0, 1e-14);
  EXPECT_NEAR(mean_power(3, 2), 1.0 / 3.0, 1e-14);
  EXPECT_NEAR(mean_power(3, 3), 1.0 / 4.0, 1e-14);
  EXPECT_NEAR(mean_power(2, 1), 2.0 / std::numbers::pi, 1e-14);
  EXPECT_NEAR(mean_power(10, 1), 0.2586899392, 1e-10);
}

// SW_p^p(delta_x, delta_y) = |x - y|^p E|u_1|^p; a mean of l independent |u.(x - y)|^p, within 5 standard errors.
TEST(SlicedWasserstein, of_two_points_is_their_distance_times_a_known_factor) {
  const std::size_t l = 100'000;
  for (const std::size_t dim : {2UL, 3UL, 10UL}) {
    Sample x{Matrix<double>(1, dim), {}, {}}, y{Matrix<double>(1, dim), {}, {}};
    double squared = 0;
    for (std::size_t k = 0; k < dim; ++k) {
      x.points(0, k) = 1.0 + static_cast<double>(k);
      y.points(0, k) = 3.0 - 0.5 * static_cast<double>(k * k);
      squared += (x.points(0, k) - y.points(0, k)) * (x.points(0, k) - y.points(0, k));
    }
    for (const double p : {1.0, 1.5, 2.0, 3.0}) {
      const double scale = std::pow(squared, p / 2);
      const double sd = scale * std::sqrt(mean_power(dim, 2 * p) - mean_power(dim, p) * mean_power(dim, p));
      const DistanceResult result = ekqd(x, y, uniform_directions(l, p));
      EXPECT_NEAR(result.statistic_power, scale * mean_power(dim, p), 5.0 * sd / std::sqrt(l)) << dim << " " << p;
      // The reported standard error agrees too: the delta method carries it through the root.
      const double expected_error = sd / std::sqrt(l) * std::pow(scale * mean_power(dim, p), 1 / p - 1) / p;
      EXPECT_NEAR(*result.standard_error / expected_error, 1.0, 0.05);
    }
  }
}

// By definition: the mean over directions of the one-dimensional distance between sorted projections.
TEST(SlicedWasserstein, is_the_mean_of_one_dimensional_distances) {
  test::Source source(1);
  const Sample x = test::normal_sample({200, 4}, source), y = test::normal_sample({150, 4}, source, 0.5, 2.0);
  for (const double p : {1.0, 2.0, 3.0}) {
    const MethodOptions options = uniform_directions(40, p);
    const auto drawn = draw_directions(Kernel(parse_kernel("linear")), x, y, options.directions, options.seed);
    const auto w = dynamic_cast<const LinearDirections&>(*drawn.directions).weights();
    Real total = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto project = [&](const Sample& sample) {
        std::vector<double> values;
        for (std::size_t j = 0; j < sample.points.rows(); ++j) {
          values.push_back(static_cast<double>(test::dot(w.row(i), sample.points.row(j))));
        }
        return values;
      };
      total += std::pow(test::quantile_gap(project(x), project(y), test::uniform_levels(), p), Real{p}) / 40;
    }
    // Projections up to 20 with five roundings each move tau by 2e-14; powers up to the third of gaps up to 10.
    EXPECT_TRUE(test::within(ekqd(x, y, options).statistic_power, total, 1e-11L)) << p;
  }
}

// SW_2^2 of N(a, s^2 I) and N(b, t^2 I) is |a - b|^2/d + (s - t)^2. Forty samples of n + n give a mean whose standard
// error is taken from their spread; the bias of a squared distance between samples is E W_2^2(P_n, P) of each, of order
// log log n/n for normal distributions [Bobkov, Ledoux 2019], far below s^2 log n/n.
TEST(SlicedWasserstein, of_two_normal_distributions_has_its_closed_form) {
  const std::size_t n = 4000, dim = 3;
  const double s = 1.0, t = 1.5, shift = 0.8;
  const double truth = shift * shift + (s - t) * (s - t);  // |a - b|^2 = d shift^2
  const int repeats = 40;
  std::vector<double> values;
  for (int r = 0; r < repeats; ++r) {
    test::Source source(100 + static_cast<std::uint64_t>(r));
    const Sample x = test::normal_sample({n, dim}, source, 0.0, s);
    const Sample y = test::normal_sample({n, dim}, source, shift, t);
    MethodOptions options = uniform_directions(300, 2.0);
    options.seed = Seed{static_cast<std::uint64_t>(r)};
    values.push_back(ekqd(x, y, options).statistic_power);
  }
  double mean = 0, variance = 0;
  for (const double v : values) mean += v / repeats;
  for (const double v : values) variance += (v - mean) * (v - mean) / (repeats - 1.0);
  const double bias = (s * s + t * t) * std::log(static_cast<double>(n)) / static_cast<double>(n);
  EXPECT_NEAR(mean, truth, bias + 5.0 * std::sqrt(variance / repeats));
  EXPECT_LT(bias + 5.0 * std::sqrt(variance / repeats), 0.05 * truth);  // or the test would say nothing
}

}  // namespace
}  // namespace kqd
