// The distribution of drawn directions [KQE Prop. 1]. Seeds are fixed, so each test either holds or does not; the
// bounds are five standard errors, which a right sampler misses once in 1.7 million draws of a seed, per number.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kqd/kqd.hpp"
#include "support/oracles.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::column;

// For fixed reference points z, (f(x_1), ..., f(x_k)) ~ N(0, K_xz K_zx / m). With l draws an entry of the mean has
// variance S_ii/l, one of the second moments (S_ii S_jj + S_ij^2)/l, and a fourth moment of 3 S_ii^2 has 96 S_ii^4/l.
void expect_normal(const Matrix<double>& f, const Matrix<double>& covariance) {
  const auto l = static_cast<double>(f.cols());
  for (std::size_t a = 0; a < f.rows(); ++a) {
    double mean = 0, fourth = 0;
    for (const double v : f.row(a)) {
      mean += v / l;
      fourth += v * v * v * v / l;
    }
    const double variance = covariance(a, a);
    EXPECT_NEAR(mean, 0.0, 5.0 * std::sqrt(variance / l));
    EXPECT_NEAR(fourth, 3.0 * variance * variance, 5.0 * std::sqrt(96.0 / l) * variance * variance);
    for (std::size_t b = 0; b <= a; ++b) {
      double moment = 0;
      for (std::size_t i = 0; i < f.cols(); ++i) moment += f(a, i) * f(b, i) / l;
      const double spread = std::sqrt((variance * covariance(b, b) + covariance(a, b) * covariance(a, b)) / l);
      EXPECT_NEAR(moment, covariance(a, b), 5.0 * spread) << a << " " << b;
    }
  }
}

class DistributionOfDirections : public testing::Test {
 protected:
  DistributionOfDirections() : points_(4, 2, {0, 0, 1, -1, 0.5, 2, -1.5, 0.3}) {
    options_.reference = ReferenceMeasure::points;
    options_.reference_points = Matrix<double>(3, 2, {0.2, 0.1, -1, 1, 1.5, 0.5});
    options_.normalise = false;
  }

  // K_xz K_zx / m.
  [[nodiscard]] Matrix<double> covariance(const test::KernelFunction& k) const {
    Matrix<double> result(4, 4, 0.0);
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        test::Real total = 0;
        for (std::size_t j = 0; j < 3; ++j) {
          const auto z = options_.reference_points.row(j);
          total += k(points_.row(a), z) * k(z, points_.row(b)) / 3;
        }
        result(a, b) = static_cast<double>(total);
      }
    }
    return result;
  }

  Matrix<double> points_;
  DirectionOptions options_;
};

TEST_F(DistributionOfDirections, is_normal_with_the_covariance_of_the_reference_points) {
  options_.num_directions = 100'000;
  const Sample any{points_, {}, {}};
  for (const auto& [text, k] : {std::pair{"gaussian@1", test::gaussian_kernel(1.0)},
                                std::pair{"polynomial:2:1", test::polynomial_kernel(2, 1.0)}}) {
    const auto drawn = draw_directions(Kernel(parse_kernel(text)), any, any, options_, Seed{1});
    Matrix<double> values(*options_.num_directions, 4);
    drawn.directions->evaluate(points_, 0, values, ThreadCount{1});
    Matrix<double> f(4, *options_.num_directions);
    for (std::size_t i = 0; i < values.rows(); ++i) {
      for (std::size_t a = 0; a < 4; ++a) f(a, i) = values(i, a);
    }
    expect_normal(f, covariance(k));
  }
}

// The same over seeds: nothing is shared between them.
TEST_F(DistributionOfDirections, is_the_same_over_seeds) {
  options_.num_directions = 1;
  const Sample any{points_, {}, {}};
  const std::size_t num_seeds = 20'000;
  Matrix<double> f(4, num_seeds);
  for (std::size_t s = 0; s < num_seeds; ++s) {
    const auto drawn = draw_directions(Kernel(parse_kernel("gaussian@1")), any, any, options_, Seed{s});
    Matrix<double> value(1, 4);
    drawn.directions->evaluate(points_, 0, value, ThreadCount{1});
    for (std::size_t a = 0; a < 4; ++a) f(a, s) = value(0, a);
  }
  expect_normal(f, covariance(test::gaussian_kernel(1.0)));
}

// With reference points drawn again each time, E f(x) f(y) is the covariance operator's kernel C(x, y) =
// integral k(x, z) k(z, y) xi(dz). For k of width 1 and xi = N(0, v) it is
// exp(-(x - y)^2/4) / sqrt(1 + 2 v) exp(-h^2 / (1 + 2 v)) with h = (x + y)/2. A product f(x) f(y) has second moment at
// most E f(x)^2 f(y)^2 <= 3 (kernel values are below 1), so the mean of S of them has standard error below sqrt(3/S).
TEST(DistributionOfDirectionsWithDrawnReferencePoints, has_the_covariance_of_the_reference_measure) {
  const Sample x = column({-1, 0}), y = column({1});  // pooled median 0, interquartile range 1
  const double v = 1.0 / (1.349 * 1.349);
  const std::vector<double> at = {-0.4, 0.0, 0.7, 1.6};
  DirectionOptions options;
  options.normalise = false;
  options.num_directions = 1;
  for (const std::size_t m : {1UL, 5UL}) {
    options.num_reference = m;
    const int num_seeds = 20'000;
    Matrix<double> moments(4, 4, 0.0);
    for (int s = 0; s < num_seeds; ++s) {
      const auto drawn =
          draw_directions(Kernel(parse_kernel("gaussian@1")), x, y, options, Seed{static_cast<std::uint64_t>(s)});
      Matrix<double> f(1, 4);
      drawn.directions->evaluate({at.data(), 4, 1}, 0, f, ThreadCount{1});
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) moments(a, b) += f(0, a) * f(0, b) / num_seeds;
      }
    }
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        const double h = 0.5 * (at[a] + at[b]);
        const double gap = at[a] - at[b];
        const double expected =
            std::exp(-gap * gap / 4.0) / std::sqrt(1.0 + 2.0 * v) * std::exp(-h * h / (1.0 + 2.0 * v));
        EXPECT_NEAR(moments(a, b), expected, 5.0 * std::sqrt(3.0 / num_seeds)) << m << " " << a << " " << b;
      }
    }
  }
}

}  // namespace
}  // namespace kqd
