// Properties of every pair of samples, direction, power and weighting, tried on random ones. Reference points and
// coefficients are given or drawn off the sample, so that rounding can be bounded: see Case::value_error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "metrics/method.hpp"
#include "support/methods.hpp"
#include "support/oracles.hpp"
#include "support/rounding.hpp"
#include "support/source.hpp"

namespace kqd {
namespace {

using test::Real;
using test::roundings;
using test::Source;
using test::within;

using test::kInfinity;
constexpr std::size_t kNumSeeds = 60;

using Distance = DistanceResult (*)(const SampleView&, const SampleView&, const MethodOptions&);
constexpr Distance kEkqd = ekqd;

// Densities are at least 0.4 where they are not 0, so the mass of a piece is known to a small relative error.
constexpr const char* kWeightings[] = {"uniform",       "triangle:0.25",  "reverse-triangle:0.5",
                                       "slope-up:0.25", "slope-down:0.5", "interval:0.25:0.75",
                                       "atom:0.5"};
constexpr double kPowers[] = {1.0, 1.5, 2.0, 3.0, 9.0, kInfinity};

template <class T, std::size_t N>
T pick(const T (&list)[N], Source& source) {
  return list[source.below(N)];
}

// Normal, discrete with many ties, or heavy-tailed.
Sample random_sample(std::size_t rows, std::size_t dim, Source& source) {
  Sample sample{Matrix<double>(rows, dim), {}, {}};
  const std::size_t kind = source.below(3);
  for (double& v : sample.points.values()) {
    const double z = source.normal();
    v = kind == 0 ? z : kind == 1 ? std::round(2.0 * z) / 2.0 : 0.2 * z * z * z;
  }
  return sample;
}

struct Case {
  explicit Case(std::uint64_t seed) : source(seed) {
    const std::size_t dims[] = {1, 2, 3, 7, 32};
    dim = pick(dims, source);
    nx = 1 + source.below(40);
    ny = 1 + source.below(40);
    x = random_sample(nx, dim, source);
    y = random_sample(ny, dim, source);
    const char* kernels[] = {"gaussian", "laplace", "matern12", "matern52", "rq:2", "imq"};
    options.kernel = parse_kernel(pick(kernels, source));
    options.kernel.bandwidth = std::sqrt(static_cast<double>(dim)) * source.uniform(0.5, 2.0);
    options.directions.reference = ReferenceMeasure::points;
    const std::size_t m = 1 + source.below(8);
    const std::size_t l = 1 + source.below(6);
    options.directions.reference_points = test::normal_matrix({m, dim}, source);
    options.directions.coefficients = test::normal_matrix({m, l}, source);
    options.power = pick(kPowers, source);
    options.weighting = parse_level_weights(pick(kWeightings, source));
    options.threads = ThreadCount{1};
  }

  // How far values of directions may differ between two ways to compute them. A kernel value does not depend on its row
  // (up to 32 columns); sums over m reference points may be taken in another order, m + 1 roundings of at most
  // sum |c_j| / ||f|| each way.
  [[nodiscard]] Real value_error() const {
    const KernelDirections directions(Kernel(options.kernel), options.directions.reference_points,
                                      options.directions.coefficients);
    const auto& c = options.directions.coefficients;
    Real largest = 0;
    for (std::size_t i = 0; i < c.cols(); ++i) {
      Real size = 0;
      for (std::size_t j = 0; j < c.rows(); ++j) size += std::abs(Real{c(j, i)});
      largest = std::max(largest, size / directions.norms()[i]);
    }
    return 2 * roundings(static_cast<double>(c.rows()) + 1) * largest;
  }

  // How far a statistic may: tau moves by twice what the values do. A piece of a grid of `cells` = nx ny cells has a
  // mass of at least 0.4/cells, known to 8 u times a density of at most 2: 40 cells roundings, relatively. Powers and
  // sums add 2 p + 600.
  [[nodiscard]] Real bound(Real statistic, std::size_t cells) const {
    if (std::isinf(options.power)) return 2 * value_error() + roundings(2) * statistic;
    return 2 * value_error() + roundings(40 * static_cast<double>(cells) + 2 * options.power + 600) * statistic;
  }

  [[nodiscard]] std::string text() const {
    return to_string(options.kernel) + ", p " + std::to_string(options.power) + ", nu " + to_string(options.weighting) +
           ", " + std::to_string(nx) + " and " + std::to_string(ny) + " rows of " + std::to_string(dim);
  }

  Source source;
  std::size_t dim = 0, nx = 0, ny = 0;
  Sample x, y;
  MethodOptions options;
};

TEST(Discrepancies, do_not_depend_on_which_sample_comes_first) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    if (c.source.below(3) == 0) {
      for (std::size_t i = 0; i < c.nx; ++i) c.x.weights.push_back(c.source.uniform());
    }
    SCOPED_TRACE(c.text());
    // Directions do not know the samples, and |a - b| = |b - a|: not a bit changes.
    EXPECT_EQ(ekqd(c.x, c.y, c.options).per_direction, ekqd(c.y, c.x, c.options).per_direction);
    EXPECT_EQ(supkqd(c.x, c.y, c.options).statistic, supkqd(c.y, c.x, c.options).statistic);
    // The tiles of an MMD do know which sample has the rows: its sums of up to 80 terms below 1 differ by 200
    // roundings, which a root can make as large as their own root.
    EXPECT_NEAR(ekqd_centered(c.x, c.y, c.options).statistic, ekqd_centered(c.y, c.x, c.options).statistic,
                std::sqrt(roundings(200) * 4));
  }
}

TEST(Discrepancies, with_the_default_reference_measure_are_symmetric_too) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    if (c.nx + c.ny < 8) continue;
    MethodOptions options;  // median bandwidth, Gaussian reference points: functions of the pool as a set
    options.power = c.options.power;
    options.seed = Seed{seed};
    EXPECT_EQ(ekqd(c.x, c.y, options).statistic, ekqd(c.y, c.x, options).statistic);
  }
}

TEST(Discrepancies, with_shared_directions_satisfy_the_triangle_inequality) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    const Sample z = random_sample(1 + c.source.below(40), c.dim, c.source);
    for (const Distance distance : {kEkqd, supkqd}) {
      const double xy = distance(c.x, c.y, c.options).statistic;
      const double yz = distance(c.y, z, c.options).statistic;
      const double xz = distance(c.x, z, c.options).statistic;
      const Real slack = 3 * c.bound(xy + yz + xz, 40 * 40);
      EXPECT_LE(xz, xy + yz + slack);
      EXPECT_LE(xy, xz + yz + slack);
      EXPECT_LE(yz, xy + xz + slack);
    }
    // The centered forms are norms of differences in the feature space; values are below 3, and a root of a sum that is
    // off by 200 roundings is off by at most its root.
    for (const Distance distance : {static_cast<Distance>(ekqd_centered), static_cast<Distance>(supkqd_centered)}) {
      const double xy = distance(c.x, c.y, c.options).statistic;
      const double yz = distance(c.y, z, c.options).statistic;
      const double xz = distance(c.x, z, c.options).statistic;
      EXPECT_LE(xz, xy + yz + 3 * (c.bound(xy + yz + xz, 40 * 40) + std::sqrt(roundings(200) * 9)));
    }
  }
}

// Every method but the unbiased estimates around 0, which are not distances between the samples and need two rows, and
// the tests that have no distance. me and scf need a second row for a covariance, scf the kernel that is its window.
std::vector<MethodInfo> distances_between_samples(std::size_t rows, KernelFamily family) {
  const std::vector<std::string_view> left_out = {"mmd", "mmd-lin", "mmd-multi", "mmd-block", "sinkhorn"};
  std::vector<MethodInfo> chosen;
  std::ranges::copy_if(methods(), std::back_inserter(chosen), [&](const MethodInfo& m) {
    if (m.id == "me") return rows > 1;
    if (m.id == "scf") return rows > 1 && family == KernelFamily::gaussian;
    return m.has_distance && std::ranges::count(left_out, m.id) == 0;
  });
  return chosen;
}

TEST(Discrepancies, of_a_sample_with_itself_are_zero) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    for (const auto& method : distances_between_samples(c.nx, c.options.kernel.family)) {
      if (method.id == "wasserstein" && std::isinf(c.options.power)) continue;  // refused beyond one dimension
      EXPECT_EQ(method_with_id(method.id).distance(c.x, c.x, c.options).statistic, 0.0) << method.id;
    }
    EXPECT_EQ(ekqd(c.x, c.x).statistic, 0.0);  // drawn directions as well
    MethodOptions pooled;                      // a distance leaves reference points in the samples
    pooled.directions.reference = ReferenceMeasure::pooled;
    EXPECT_EQ(ekqd(c.x, c.x, pooled).statistic, 0.0);
  }
}

// More rows than a tile of the Gram matrix holds: the sums of an MMD must cancel to the last bit all the same.
TEST(Discrepancies, of_a_large_sample_with_itself_are_zero) {
  Source source(1);
  for (const std::size_t rows : {256UL, 257UL, 512UL, 700UL}) {
    for (const std::size_t dim : {2UL, 40UL}) {
      Sample x = random_sample(rows, dim, source);
      for (const bool weighted : {false, true}) {
        if (weighted) {
          for (std::size_t i = 0; i < rows; ++i) x.weights.push_back(source.uniform());
        }
        for (const auto& method : distances_between_samples(rows, KernelFamily::gaussian)) {
          if (weighted && !test::takes_weights(method)) continue;
          if (method.id == "max-gsw" && dim == 40) continue;  // 11480 monomials: the same code, many seconds
          EXPECT_EQ(method_with_id(method.id).distance(x, x, {}).statistic, 0.0) << method.id << rows;
        }
      }
    }
  }
}

TEST(Discrepancies, do_not_depend_on_the_order_of_rows) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    if (c.source.below(2) == 0) {
      for (std::size_t i = 0; i < c.nx; ++i) c.x.weights.push_back(static_cast<double>(1 + c.source.below(4)));
    }
    const Sample shuffled_x = test::rows_in_order(c.x, test::shuffled(c.nx, c.source));
    const Sample shuffled_y = test::rows_in_order(c.y, test::shuffled(c.ny, c.source));
    const double plain = ekqd(c.x, c.y, c.options).statistic;
    EXPECT_TRUE(within(ekqd(shuffled_x, shuffled_y, c.options).statistic, plain, c.bound(plain, 4 * c.nx * c.ny)));
    EXPECT_TRUE(within(ekqd(c.x, shuffled_x, c.options).statistic, 0, c.bound(0, 1)));
  }
}

// |stat(x, y) - stat(x', y')| for samples expanded to the least common multiple of their sizes.
TEST(Discrepancies, of_unequal_sizes_are_those_of_the_expanded_samples) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    const std::size_t n = std::lcm(c.nx, c.ny);
    const auto expanded = [&](const Sample& sample) {
      std::vector<std::size_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = i % sample.points.rows();
      return test::rows_in_order(sample, order);
    };
    const double plain = ekqd(c.x, c.y, c.options).statistic;
    EXPECT_TRUE(within(ekqd(expanded(c.x), expanded(c.y), c.options).statistic, plain, c.bound(plain, c.nx * c.ny)));
    // Centered: values along directions move c, D and hence g^2 by up to 8 of their errors, the MMD by 1000 roundings;
    // powers of a root that may vanish move by no more than the root of that.
    const Real squared_error = 8 * c.value_error() + 2 * roundings(1000);
    const double centered = ekqd_centered(c.x, c.y, c.options).statistic;
    EXPECT_TRUE(within(ekqd_centered(expanded(c.x), expanded(c.y), c.options).statistic, centered,
                       std::sqrt(squared_error) + c.bound(centered, c.nx * c.ny)));
  }
}

TEST(Discrepancies, of_weighted_samples_are_those_of_repeated_rows) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    const auto weigh = [&](Sample& sample) {
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < sample.points.rows(); ++i) {
        const std::size_t times = i == 0 ? 1 : c.source.below(4);  // 0 to 3, not all 0
        sample.weights.push_back(static_cast<double>(times));
        order.insert(order.end(), times, i);
      }
      Sample repeated = test::rows_in_order(sample, order);
      repeated.weights.clear();
      return repeated;
    };
    const Sample repeated_x = weigh(c.x);
    const bool both = c.source.below(2) == 0;
    const Sample repeated_y = both ? weigh(c.y) : c.y;
    const double repeated = ekqd(repeated_x, repeated_y, c.options).statistic;
    const std::size_t cells = repeated_x.points.rows() * repeated_y.points.rows();
    EXPECT_TRUE(within(ekqd(c.x, c.y, c.options).statistic, repeated, c.bound(repeated, cells)));
  }
}

// x -> 2^k x changes no digit anywhere: bandwidth and reference points follow, kernel values stay the same numbers.
TEST(Discrepancies, with_median_bandwidth_and_gaussian_reference_do_not_see_the_unit_of_measurement) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    if (c.nx + c.ny < 3) continue;
    for (const char* kernel : {"gaussian", "laplace", "matern32", "rq:2", "imq"}) {
      MethodOptions options;
      options.kernel = parse_kernel(kernel);
      options.power = c.options.power;
      options.seed = Seed{seed};
      options.threads = ThreadCount{1};
      options.directions.num_directions = 16;
      for (const ReferenceMeasure measure :
           {ReferenceMeasure::gaussian, ReferenceMeasure::uniform, ReferenceMeasure::pooled}) {
        options.directions.reference = measure;
        const double plain = ekqd(c.x, c.y, options).statistic;
        for (const double scale : {0x1p-40, 0.5, 4.0, 0x1p60}) {
          Sample sx = c.x, sy = c.y;
          for (double& v : sx.points.values()) v *= scale;
          for (double& v : sy.points.values()) v *= scale;
          ASSERT_EQ(ekqd(sx, sy, options).statistic, plain) << kernel << " " << scale << " " << c.text();
        }
      }
    }
  }
}

// x -> x + b moves bandwidth and reference points along. Numbers that are multiples of 2^-20 move exactly; reference
// points z are rounded at |b| + |z|, u (|b| + 10) per coordinate, and |dk/dr| <= 1/s for the Gaussian kernel.
TEST(Discrepancies, with_median_bandwidth_and_gaussian_reference_do_not_see_the_origin) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    if (c.nx + c.ny < 3) continue;
    SCOPED_TRACE(c.text());
    const auto rounded = [](Sample sample) {
      for (double& v : sample.points.values()) v = std::round(v * 0x1p20) * 0x1p-20;
      return sample;
    };
    const auto moved = [](Sample sample, double by) {
      for (double& v : sample.points.values()) v += by;
      return sample;
    };
    MethodOptions options;
    options.power = c.options.power;
    options.weighting = c.options.weighting;
    options.directions.coefficients = c.options.directions.coefficients;
    const Sample x = rounded(c.x), y = rounded(c.y);
    const DistanceResult plain = ekqd(x, y, options);
    for (const double by : {1.0, -1000.0, 0x1p20}) {
      const DistanceResult result = ekqd(moved(x, by), moved(y, by), options);
      EXPECT_DOUBLE_EQ(*result.kernel.bandwidth, *plain.kernel.bandwidth);
      // Norms: recover sum |c| / ||f|| from the directions as they were drawn.
      const auto drawn = draw_directions(Kernel(plain.kernel), x, y, options.directions, options.seed);
      const auto norms = dynamic_cast<const KernelDirections&>(*drawn.directions).norms();
      const double z_error = test::kUnit * (std::abs(by) + 10.0) * std::sqrt(static_cast<double>(c.dim));
      // A bandwidth that is off by 2 roundings moves k by 2 E e^-E <= 1 of them.
      const Real kernel_error = z_error / *plain.kernel.bandwidth + roundings(20);
      Real value_error = 0;
      for (std::size_t i = 0; i < norms.size(); ++i) {
        Real size = 0;
        for (std::size_t j = 0; j < options.directions.coefficients.rows(); ++j) {
          size += std::abs(Real{options.directions.coefficients(j, i)});
        }
        const Real relative = size / norms[i];
        // f moves by size * error; ||f||^2 by 2 size^2 * error, so ||f|| relatively by (size/||f||)^2 * error.
        value_error = std::max(value_error, relative * (1 + relative * relative) * (kernel_error + roundings(20)));
      }
      const Real bound = 2 * value_error + roundings(40.0 * 1600 + 700) * plain.statistic;
      EXPECT_TRUE(within(result.statistic, plain.statistic, bound)) << by;
    }
  }
}

TEST(Discrepancies, have_the_same_bits_for_1_to_8_threads) {
  for (const std::uint64_t seed : test::seeds(2)) {
    Source source(seed);
    for (const std::size_t dim : {2UL, 40UL}) {
      Sample x = random_sample(4500, dim, source), y = random_sample(9001, dim, source);
      for (const char* method : {"ekqd", "supkqd", "ekqd-centered"}) {
        const bool centered = std::string(method) == "ekqd-centered";
        if (centered && (dim != 2 || seed != 1000)) continue;
        for (const DirectionFamily family : {DirectionFamily::gaussian, DirectionFamily::linear}) {
          MethodOptions options;
          options.directions.family = family;
          options.directions.num_directions = 10;
          options.power = centered ? 1.5 : 2.0;
          options.threads = ThreadCount{1};
          const DistanceResult only = distance(method, x, y, options);
          for (const unsigned threads : {2U, 3U, 6U, 8U}) {
            if (centered && threads % 3 != 0) continue;  // quadratic: a few suffice
            options.threads = ThreadCount{threads};
            const DistanceResult together = distance(method, x, y, options);
            ASSERT_EQ(together.statistic, only.statistic) << method << " " << threads;
            ASSERT_EQ(together.per_direction, only.per_direction) << method << " " << threads;
            ASSERT_EQ(together.standard_error, only.standard_error);
            ASSERT_EQ(find_detail(together.details, "mmd_squared"), find_detail(only.details, "mmd_squared"));
          }
        }
      }
    }
  }
}

// Same seed, same numbers; another seed, other directions.
TEST(Discrepancies, follow_from_the_seed) {
  for (const std::uint64_t seed : test::seeds(10)) {
    Case c(seed);
    if (c.nx + c.ny < 8) continue;
    MethodOptions options;
    options.seed = Seed{seed};
    const double first = ekqd(c.x, c.y, options).statistic;
    EXPECT_EQ(ekqd(c.x, c.y, options).statistic, first);
    options.seed = Seed{seed + 1};
    EXPECT_NE(ekqd(c.x, c.y, options).statistic, first);
  }
}

// tau_p grows with p (nu has mass 1), so does the mean over directions, and the maximum is above the mean.
TEST(Discrepancies, grow_with_the_power_up_to_the_supremum) {
  for (const std::uint64_t seed : test::seeds(kNumSeeds)) {
    Case c(seed);
    SCOPED_TRACE(c.text());
    double before = 0.0;
    for (const double power : {1.0, 1.3, 2.0, 3.0, 8.0, 9.0, 30.0, kInfinity}) {
      c.options.power = power;
      const double mean = ekqd(c.x, c.y, c.options).statistic;
      const double sup = supkqd(c.x, c.y, c.options).statistic;
      const auto slack = static_cast<double>(c.bound(sup, c.nx * c.ny));
      EXPECT_GE(mean, before - slack) << power;
      EXPECT_LE(mean, sup + slack) << power;
      before = mean;
    }
  }
}

}  // namespace
}  // namespace kqd
