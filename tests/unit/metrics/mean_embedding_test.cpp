#include "metrics/mean/mean_embedding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "metrics/feasible.hpp"
#include "support/errors.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;
using test::Real;
using test::roundings;
using test::within;

constexpr ThreadCount kOneThread{1};

double mmd_squared(const char* kernel, const Sample& x, const Sample& y) {
  return mmd_v_squared(Kernel(parse_kernel(kernel)), x, y, kOneThread);
}

// Methods C1.
TEST(MmdV, has_the_check_values) {
  EXPECT_NEAR(mmd_squared("gaussian@1", column({0}), column({1})), 2.0 - 2.0 * std::exp(-0.5), 1e-15);
  EXPECT_NEAR(mmd_squared("gaussian@1", column({0, 1}), column({0.5, 2, 3})), 0.4688573340, 1e-10);
  EXPECT_NEAR(mmd_squared("laplace@1", column({0, 1}), column({0.5, 2, 3})), 0.5330501665, 1e-10);
}

// The population value for N(0, 1) against N(1, 1), sigma = 1 is 0.1772676349. V-statistics are larger by less than 2/n
// in the mean; their standard deviation is 2 sqrt((Var w(X) + Var w(Y))/n) to first order with the witness |w| <= MMD.
TEST(MmdV, approaches_the_population_value) {
  test::Source source(1);
  const double n = 4000;
  const Sample x = test::normal_sample({4000, 1}, source);
  const Sample y = test::normal_sample({4000, 1}, source, 1.0);
  const double population = 0.1772676349;
  EXPECT_NEAR(mmd_squared("gaussian@1", x, y), population, 2.0 / n + 5.0 * 2.0 * std::sqrt(2.0 * population / n));
}

// Methods D5: twice the squared MMD of the distance kernel is the energy distance, here 25/18, whatever the origin.
TEST(MmdV, of_the_energy_kernel_is_half_the_energy_distance) {
  for (const double origin : {0.0, 1.3, -7.0, 100.0}) {
    KernelSpec spec = parse_kernel("energy:1");
    spec.origin = {origin};
    const double squared = mmd_v_squared(Kernel(spec), column({0, 1}), column({0.5, 2, 3}), kOneThread);
    // Values of the kernel are up to |origin| + 3, each rounded a few times, and the origin cancels.
    EXPECT_NEAR(2.0 * squared, 25.0 / 18.0, roundings(40) * (std::abs(origin) + 3.0));
  }
}

// More than one tile of 256 rows, weights, unequal sizes. A value of the Gaussian kernel is below 1 and off by less
// than 20 roundings here (E < 5); a tile sums 256 terms, the rest is compensated.
TEST(MmdV, agrees_with_all_pairs_for_any_number_of_threads) {
  test::Source source(2);
  Sample x = test::normal_sample({600, 2}, source);
  Sample y = test::normal_sample({300, 2}, source, 0.5);
  const auto k = test::gaussian_kernel(2.0);
  for (const bool weighted : {false, true}) {
    if (weighted) {
      for (int i = 0; i < 600; ++i) x.weights.push_back(source.uniform());
      for (int i = 0; i < 300; ++i) y.weights.push_back(source.uniform());
    }
    const auto a = normalised_weights(x);
    const auto b = normalised_weights(y);
    const Real xx = test::mean_inner_product(k, x.points, a, x.points, a);
    const Real yy = test::mean_inner_product(k, y.points, b, y.points, b);
    const Real xy = test::mean_inner_product(k, x.points, a, y.points, b);
    const Kernel kernel(parse_kernel("gaussian@2"));
    const double only = mmd_v_squared(kernel, x, y, kOneThread);
    EXPECT_TRUE(within(only, xx + yy - 2 * xy, roundings(20 + 256 + 8) * (xx + yy + 2 * xy)));
    EXPECT_TRUE(within(mean_inner_product(kernel, x.points, a, y.points, b, kOneThread), xy, roundings(284) * xy));
    for (unsigned threads = 2; threads <= 8; ++threads) {
      EXPECT_EQ(mmd_v_squared(kernel, x, y, ThreadCount{threads}), only);
    }
  }
}

TEST(MmdV, is_zero_on_equal_samples_of_any_size) {
  test::Source source(3);
  for (const std::size_t n : {1UL, 10UL, 256UL, 257UL, 700UL}) {
    const Sample x = test::normal_sample({n, 3}, source);
    for (const char* kernel : {"gaussian@1", "polynomial:3:1"}) EXPECT_EQ(mmd_squared(kernel, x, x), 0.0) << n;
  }
}

// Every shape of tiles: fewer or more than those of the other sample, whole ones and rests.
TEST(MeanInnerProduct, covers_every_pair_once_whatever_the_sizes) {
  const Kernel ones(parse_kernel("polynomial:1:1"));  // x.y + 1 = 1 at the origin
  for (const std::size_t nx : {1UL, 255UL, 256UL, 600UL, 1100UL}) {
    for (const std::size_t ny : {1UL, 257UL, 512UL, 900UL}) {
      const Matrix<double> x(nx, 2, 0.0), y(ny, 2, 0.0);
      const std::vector<double> a(nx, 1.0), b(ny, 1.0);
      EXPECT_EQ(mean_inner_product(ones, x, a, y, b, kOneThread), static_cast<double>(nx * ny));
    }
  }
}

TEST(QuadraticGuard, refuses_what_would_take_minutes_unless_it_is_allowed) {
  EXPECT_NO_THROW(require_feasible(10'000, 100, false, "the MMD"));
  EXPECT_NO_THROW(require_feasible(1'000'000, 10, true, "the MMD"));
  // 5e11 values of 4e-9 + 10 * 2e-10 s each: 3000 s.
  test::expect_error(ErrorCode::resource_limit,
                     "the MMD takes 5e+11 kernel values for 1000000 rows, about 50 minutes on one thread; use "
                     "allow_quadratic = yes to run it, or a method whose cost is near-linear",
                     [] { require_feasible(1'000'000, 10, false, "the MMD"); });
}

}  // namespace
}  // namespace kqd
