// A kernel may tell distributions apart by quantiles where it cannot by means [KQE Theorem 2]. The cubic kernel
// (x y + 1)^3 sees the first three moments. N(0, 1) and the distribution Q with mass 1/6, 2/3, 1/6 at -sqrt3, 0, sqrt3
// share the first five, so their MMD is 0; the quantiles of a cubic u along both are far apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

const double kRoot3 = std::sqrt(3.0);

Sample normal_distribution(std::size_t n, test::Source& source) {
  return test::normal_sample({n, 1}, source);
}
Sample three_point_distribution(std::size_t n, test::Source& source) {
  Sample sample{Matrix<double>(n, 1), {}, {}};
  for (double& v : sample.points.values()) {
    const std::size_t face = source.below(6);
    v = face == 0 ? -kRoot3 : face == 1 ? kRoot3 : 0.0;
  }
  return sample;
}

const Matrix<double> kReference(4, 1, {-1.5, -0.4, 0.6, 1.8});
const Matrix<double> kCoefficients(4, 3, {1, -0.5, 2, 0.3, 1, -1, -0.8, 0.7, 0.5, 0.6, 1.2, -0.4});

MethodOptions cubic_options() {
  MethodOptions options;
  options.kernel = parse_kernel("polynomial:3:1");
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = kReference;
  options.directions.coefficients = kCoefficients;
  options.threads = ThreadCount{1};
  return options;
}

// u_i(x) by its formula.
class Cubic {
 public:
  explicit Cubic(std::size_t i) : i_(i) {
    double squared = 0;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 0; b < 4; ++b) {
        squared += kCoefficients(a, i) * kCoefficients(b, i) * std::pow(kReference(a, 0) * kReference(b, 0) + 1, 3);
      }
    }
    norm_ = std::sqrt(squared);
  }
  double operator()(double x) const {
    double f = 0;
    for (std::size_t a = 0; a < 4; ++a) f += kCoefficients(a, i_) * std::pow(kReference(a, 0) * x + 1, 3);
    return f / norm_;
  }

 private:
  std::size_t i_;
  double norm_;
};

// Sorted values of a distribution along u at the midpoints of `cells` equal levels: its quantile function to 1/cells.
constexpr std::size_t kCells = 60'000;
std::vector<double> normal_quantiles(const Cubic& u) {
  std::vector<double> values(kCells);
  for (std::size_t j = 0; j < kCells; ++j) {
    values[j] = u(normal_quantile((static_cast<double>(j) + 0.5) / static_cast<double>(kCells)));
  }
  std::ranges::sort(values);
  return values;
}
std::vector<double> three_point_quantiles(const Cubic& u) {
  std::vector<double> values(kCells, u(0.0));
  std::fill_n(values.begin(), kCells / 6, u(-kRoot3));
  std::fill_n(values.end() - kCells / 6, kCells / 6, u(kRoot3));
  std::ranges::sort(values);
  return values;
}

// integral sqrt(F (1 - F)) dt: E W_1(P_n, P) and its root mean square are at most this over sqrt(n).
double spread(const std::vector<double>& sorted) {
  double total = 0;
  for (std::size_t j = 1; j < sorted.size(); ++j) {
    const double level = static_cast<double>(j) / static_cast<double>(sorted.size());
    total += std::sqrt(level * (1 - level)) * (sorted[j] - sorted[j - 1]);
  }
  return total;
}

struct Truth {
  double ekqd = 0;    // e-KQD_1 of the distributions
  double spread = 0;  // sqrt(n) times a bound on the error of samples
};
Truth truth() {
  Truth result;
  for (std::size_t i = 0; i < 3; ++i) {
    const Cubic u(i);
    const auto p = normal_quantiles(u), q = three_point_quantiles(u);
    double tau = 0;
    for (std::size_t j = 0; j < kCells; ++j) tau += std::abs(p[j] - q[j]) / static_cast<double>(kCells);
    result.ekqd += tau / 3;
    result.spread += (spread(p) + spread(q)) / 3;
  }
  return result;
}

// MMD^2 = sum_i C(3, i) (difference of i-th sample moments)^2, so n E MMD_V^2 = sum_i C(3, i) (Var_P X^i + Var_Q X^i) =
// 3 (1 + 1) + 3 (2 + 2) + (15 + 9) = 42 at every n. A sum of weighted squares of normals has a standard deviation of at
// most sqrt2 times its mean; with heavier tails of X^3 at small n let it be twice the mean, over the root of the
// repeats.
TEST(CubicKernel, mmd_between_moment_matched_distributions_falls_like_one_over_root_n) {
  const Kernel cubic(parse_kernel("polynomial:3:1"));
  for (const auto& [n, repeats] :
       {std::pair{50UL, 400}, std::pair{200UL, 400}, std::pair{800UL, 200}, std::pair{3200UL, 30}}) {
    double mean = 0;
    for (int r = 0; r < repeats; ++r) {
      test::Source source(10'000 * n + static_cast<std::uint64_t>(r));
      const Sample x = normal_distribution(n, source);
      const Sample y = three_point_distribution(n, source);
      mean += static_cast<double>(n) * mmd_v_squared(cubic, x, y, ThreadCount{1}) / repeats;
    }
    EXPECT_NEAR(mean, 42.0, 5.0 * 2.0 * 42.0 / std::sqrt(repeats)) << n;
  }
}

// |e-KQD_1(P_n, Q_n) - e-KQD_1(P, Q)| has mean and root mean square at most spread/sqrt(n): the mean over R repeats
// exceeds (1 + 5/sqrt(R)) of that with a probability below 1/25 by Chebyshev only, and in truth hardly ever.
TEST(CubicKernel, kqd_between_moment_matched_distributions_stays_away_from_zero) {
  const Truth distributions = truth();
  ASSERT_GT(distributions.ekqd, 0.1);
  const int repeats = 40;
  for (const std::size_t n : {50UL, 200UL, 800UL, 3200UL, 12'800UL}) {
    double mean_error = 0, smallest = 1e9;
    for (int r = 0; r < repeats; ++r) {
      test::Source source(20'000 * n + static_cast<std::uint64_t>(r));
      const Sample x = normal_distribution(n, source);
      const Sample y = three_point_distribution(n, source);
      const double statistic = ekqd(x, y, cubic_options()).statistic;
      mean_error += std::abs(statistic - distributions.ekqd) / repeats;
      smallest = std::min(smallest, statistic);
    }
    const double bound = distributions.spread / std::sqrt(static_cast<double>(n));
    EXPECT_LT(mean_error, bound * (1.0 + 5.0 / std::sqrt(repeats))) << n;
    if (n == 12'800) {
      // By now sqrt(42/n) = 0.057 is all that the MMD has left, while every single KQD is near its limit.
      EXPECT_GT(smallest, 0.5 * distributions.ekqd);
      EXPECT_GT(distributions.ekqd, 3.0 * std::sqrt(42.0 / static_cast<double>(n)));
    }
  }
}

}  // namespace
}  // namespace kqd
