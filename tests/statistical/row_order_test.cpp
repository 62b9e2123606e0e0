#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "binomial.hpp"
#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutation_test.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/test_pool.hpp"
#include "support/drawn_sample.hpp"
#include "unit/testing/toy_plans.hpp"

namespace kqd {
namespace {

constexpr std::size_t kOrderRuns = 400;
constexpr std::size_t kRowsOfX = 16;
constexpr std::size_t kRowsOfY = 48;
constexpr std::size_t kVectors = kRowsOfX - 1;

Sample normal(std::size_t rows, Seed seed, std::uint64_t index) {
  return test::drawn_sample(rows, 1, {}, index, seed);
}

// The first eigenvectors of eigenvalue 0 of the Gram matrix x x' of the linear kernel on the line: columns 2, 3, ... of
// the Householder matrix I - 2 w w' / |w|^2, w = x + sign(x_1) |x| e_1, whose first column is x / |x|. A correct
// answer, and one that depends on the order of the rows: the k-th vector is large at position k, and small elsewhere.
std::vector<std::vector<double>> null_vectors_of_linear_gram(const std::vector<double>& x) {
  std::vector<double> w = x;
  w[0] += std::copysign(std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)), x[0]);
  const double square = std::inner_product(w.begin(), w.end(), w.begin(), 0.0);
  std::vector<std::vector<double>> vectors;
  for (std::size_t k = 1; k <= kVectors; ++k) {
    std::vector<double> vector(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) vector[i] = (i == k ? 1.0 : 0.0) - 2.0 * w[i] * w[k] / square;
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

// The test of the mean differences along those vectors, for a pool in this order.
bool rejects(const TestPool& pool, Seed seed) {
  std::vector<double> values;
  std::vector<double> positions;
  for (std::size_t i = 0; i < pool.order.size(); ++i) {
    values.push_back(pool.rows().row(i)[0]);
    positions.push_back(static_cast<double>(i));
  }
  const auto mean_differences = [vectors = null_vectors_of_linear_gram(values)](const std::vector<double>& x,
                                                                                const std::vector<double>& y) {
    double sum = 0.0;
    for (const auto& vector : vectors) {
      const auto mean = [&](const std::vector<double>& rows) {
        return std::accumulate(
                   rows.begin(), rows.end(), 0.0,
                   [&](double so_far, double row) { return so_far + vector[static_cast<std::size_t>(row)]; }) /
               static_cast<double>(rows.size());
      };
      sum += std::abs(mean(x) - mean(y));
    }
    return sum;
  };
  const test::ToyPlan plan(positions, mean_differences);
  const PermutationSource source(Design::independent(), {pool.x.size(), pool.y.size()}, pool.order, seed);
  return permutation_test(plan, source, {.num_permutations = 199, .seed = seed, .threads = ThreadCount{1}}).reject;
}

// True nulls that are rejected when `order` puts the pool in order before the eigenvectors are computed.
template <class Order>
std::size_t rejected_nulls(const Order& order) {
  std::size_t rejections = 0;
  for (std::size_t run = 0; run < kOrderRuns; ++run) {
    const Seed seed{run};
    const Sample x = normal(kRowsOfX, seed, 0);
    const Sample y = normal(kRowsOfY, seed, 1);
    if (rejects(order(x, y, seed), seed)) ++rejections;
  }
  return rejections;
}

// The leak that made the label-blind order a rule: eigenvectors of a Gram matrix that lacks rank know the positions of
// rows, and positions know the labels when X comes first.
TEST(RowOrder, of_x_before_y_leaks_the_labels_into_eigenvectors_and_rejects_every_null) {
  const auto x_then_y = [](const Sample& x, const Sample& y, Seed) {
    return TestPool{x, y, test::rows_in_order(x.points.rows() + y.points.rows())};
  };
  EXPECT_EQ(rejected_nulls(x_then_y), kOrderRuns);
}

// The same arithmetic on the order of make_test_pool is exact: Binomial(400, 0.05), outside the band with a probability
// below 1e-6.
TEST(RowOrder, of_a_test_pool_keeps_the_level_of_a_plan_that_sees_positions) {
  const auto label_blind = [](const Sample& x, const Sample& y, Seed) { return make_test_pool(x, y, ThreadCount{1}); };
  const std::size_t rejections = rejected_nulls(label_blind);
  EXPECT_TRUE(validation::binomial_band(kOrderRuns, 0.05, 1e-6).holds(rejections)) << rejections;
}

// The tests that do take eigenvectors of Gram matrices which lack rank: the linear kernel on the line has rank 1, a
// polynomial of degree 2 rank 3, each with N = 64 rows.
TEST(RowOrder, does_not_leak_into_principal_directions_and_the_adaptive_test) {
  for (const std::string method : {"ekqd", "adaptive"}) {
    for (const char* kernel : {"linear", "polynomial:2:1"}) {
      std::size_t rejections = 0;
      for (std::size_t run = 0; run < kOrderRuns; ++run) {
        const Seed seed{1000 + run};
        TwoSampleOptions options;
        options.method = method;
        options.statistic.kernel = parse_kernel(kernel);
        options.statistic.seed = seed;
        options.statistic.threads = ThreadCount{1};
        options.test.num_permutations = 99;
        if (method == "ekqd") {
          options.statistic.directions.family = DirectionFamily::principal;
          options.statistic.directions.whiten = true;
          options.set_aside = false;
        }
        if (two_sample_test(normal(kRowsOfX, seed, 0), normal(kRowsOfY, seed, 1), options).test.reject) ++rejections;
      }
      EXPECT_TRUE(validation::binomial_band(kOrderRuns, 0.05, 1e-6).holds(rejections))
          << method << ", " << kernel << ": " << rejections;
    }
  }
}

}  // namespace
}  // namespace kqd
