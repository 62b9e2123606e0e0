// The energy distance: over all pairs, on the line and along random lines.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "metrics/transport/energy_plan.hpp"
#include "support/errors.hpp"
#include "support/plans.hpp"

namespace kqd {
namespace {

MethodOptions settings(const Parameters& parameters = {}) {
  MethodOptions options;
  options.threads = ThreadCount{1};
  options.seed = Seed{3};
  options.parameters = parameters;
  return options;
}

constexpr double kFull = 1;
constexpr double kSliced = 2;

double energy(const SampleView& x, const SampleView& y, const Parameters& parameters = {}) {
  return distance("energy", x, y, settings(parameters)).statistic;
}

// The definition: three double sums.
double by_all_pairs(const Sample& x, const Sample& y, double beta) {
  const auto mean = [&](const Sample& a, const Sample& b) {
    double total = 0.0;
    double weights = 0.0;
    for (std::size_t i = 0; i < a.points.rows(); ++i) {
      for (std::size_t j = 0; j < b.points.rows(); ++j) {
        const double weight = (a.weights.empty() ? 1.0 : a.weights[i]) * (b.weights.empty() ? 1.0 : b.weights[j]);
        double squares = 0.0;
        for (std::size_t k = 0; k < a.points.cols(); ++k) squares += std::pow(a.points(i, k) - b.points(j, k), 2.0);
        total += weight * std::pow(squares, beta / 2.0);
        weights += weight;
      }
    }
    return total / weights;
  };
  return 2.0 * mean(x, y) - mean(x, x) - mean(y, y);
}

// Means of some hundred distances below 10, on both sides.
constexpr double kTolerance = 1e-12;

TEST(Energy, has_the_check_value) {
  const Sample x{Matrix<double>(2, 1, {0, 1}), {}, {}};
  const Sample y{Matrix<double>(3, 1, {.5, 2, 3}), {}, {}};
  EXPECT_NEAR(energy(x, y), 25.0 / 18.0, 1e-15);
  EXPECT_NEAR(energy(x, y, {{"form", kFull}}), 25.0 / 18.0, 1e-14);
  EXPECT_NEAR(energy(x, y, {{"form", kSliced}}), 25.0 / 18.0, 1e-15);
}

TEST(Energy, is_the_double_sum_for_every_power_size_and_weight) {
  for (const test::PlanCase& c : test::plan_cases()) {
    for (const std::size_t dim : {1U, 2U, 5U, 40U}) {
      const Sample x = test::drawn_sample(c.nx, dim, c, 1);
      const Sample y = test::drawn_sample(c.ny, dim, c, 2);
      for (const double beta : {0.3, 1.0, 1.7}) {
        const double expected = by_all_pairs(x, y, beta);
        // Above 32 columns distances come from products and lose digits near 0 (kernel/pairwise.hpp).
        const double bound = dim > 32 ? 1e-9 : kTolerance;
        EXPECT_NEAR(energy(x, y, {{"beta", beta}}), expected, bound) << c.name << " " << dim << " " << beta;
        EXPECT_NEAR(energy(x, y, {{"beta", beta}, {"form", kFull}}), expected, bound);
      }
    }
  }
}

TEST(Energy, is_twice_the_squared_mmd_of_the_distance_kernel) {
  const Sample x = test::drawn_sample(30, 3, {"", 30, 30}, 3);
  const Sample y = test::drawn_sample(20, 3, {"", 20, 20}, 4);
  MethodOptions options = settings();
  options.kernel = parse_kernel("energy:1");
  EXPECT_NEAR(energy(x, y), 2.0 * mmd_v(x, y, options).statistic_power, 1e-14);
}

TEST(Energy, is_zero_on_equal_samples) {
  const Sample line = test::drawn_sample(30, 1, {"", 30, 30, false, true}, 5);
  const Sample space = test::drawn_sample(30, 3, {"", 30, 30}, 6);
  EXPECT_EQ(energy(line, line), 0.0);
  EXPECT_EQ(energy(space, space, {{"form", kSliced}}), 0.0);
  EXPECT_NEAR(energy(space, space), 0.0, 1e-14);
}

TEST(Energy, mean_absolute_coordinate_has_the_check_values) {
  EXPECT_EQ(mean_absolute_coordinate(1), 1.0);
  EXPECT_NEAR(mean_absolute_coordinate(2), 2.0 / std::numbers::pi, 1e-16);
  EXPECT_NEAR(mean_absolute_coordinate(3), 0.5, 1e-16);
  EXPECT_NEAR(mean_absolute_coordinate(10), 0.2586899392, 1e-10);
  for (const std::size_t d : {2U, 7U, 64U, 301U}) {
    const double half = static_cast<double>(d) / 2.0;
    const double expected = std::exp(std::lgamma(half) - std::lgamma(half + 0.5)) / std::sqrt(std::numbers::pi);
    EXPECT_NEAR(mean_absolute_coordinate(d), expected, 1e-12 * expected);
  }
}

// Differences of infinities are not numbers, and a largest of them and 0 would be 0: "no difference".
TEST(Energy, distances_that_overflow_are_an_error_of_a_test_too) {
  Sample x{Matrix<double>(4, 2, 1.7e308), {}, {}};
  Sample y{Matrix<double>(4, 2, -1.7e308), {}, {}};
  TwoSampleOptions options;
  options.method = "energy";
  test::expect_error(ErrorCode::non_finite_value,
                     "a kernel value overflows on this data; rescale the columns or take a bounded kernel",
                     [&] { static_cast<void>(two_sample_test(x, y, options)); });
}

// Five standard errors of a mean over independent lines: missed once in two million draws, and the seed is fixed.
TEST(Energy, sliced_is_the_full_one_on_average) {
  for (const std::size_t dim : {2U, 3U, 10U}) {
    const Sample x = test::drawn_sample(25, dim, {"", 25, 25}, 7);
    Sample y = test::drawn_sample(35, dim, {"", 35, 35, true, false}, 8);
    for (double& v : y.points.values()) v = 1.5 * v + 0.3;
    const DistanceResult sliced = distance("energy", x, y, settings({{"form", kSliced}, {"slices", 4000}}));
    ASSERT_TRUE(sliced.standard_error.has_value());
    EXPECT_GT(*sliced.standard_error, 0.0);
    EXPECT_LT(*sliced.standard_error, 0.05 * sliced.statistic);
    EXPECT_NEAR(sliced.statistic, energy(x, y), 5.0 * *sliced.standard_error) << dim;
  }
}

TEST(Energy, plan_equals_recomputation) {
  for (const test::PlanCase& c : test::plan_cases()) {
    test::expect_plan_equals_distance("energy", c, 1, settings(), {.of_scale = 1e-13, .slack_of_scale = 1e-5});
    test::expect_plan_equals_distance("energy", c, 1, settings({{"beta", 0.5}}),
                                      {.of_scale = 1e-12, .slack_of_scale = 1e-5});
    test::expect_plan_equals_distance("energy", c, 3, settings(), {.of_scale = 1e-12, .slack_of_scale = 1e-5});
    test::expect_plan_equals_distance("energy", c, 3, settings({{"beta", 1.5}}),
                                      {.of_scale = 1e-12, .slack_of_scale = 1e-5});
    test::expect_plan_equals_distance("energy", c, 3, settings({{"form", kSliced}, {"slices", 7}}),
                                      {.of_scale = 1e-13, .slack_of_scale = 1e-5});
  }
}

TEST(Energy, plan_gives_the_same_bits_however_permutations_are_cut_into_batches) {
  const Sample x = test::drawn_sample(23, 2, {"", 23, 23}, 9);
  const Sample y = test::drawn_sample(40, 2, {"", 40, 40}, 10);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan prepared =
      method_with_id("energy").prepare(pool, settings({{"form", kSliced}, {"slices", 5}}), {});
  const PermutationSource source(Design::independent(), {23, 40}, prepared.rows, Seed{1});
  std::vector<LabelBatch> batches(11);
  for (std::size_t k = 0; k < 11; ++k) source.fill(PermutationMode::random, k, k < 10 ? 64 : 9, batches[k]);
  std::vector<double> together(649);
  prepared.plan->evaluate(batches, together, ThreadCount{2});
  std::vector<double> one_by_one(649);
  for (std::size_t k = 0; k < 11; ++k) {
    prepared.plan->evaluate({&batches[k], 1}, std::span(one_by_one).subspan(64 * k, batches[k].count), ThreadCount{1});
  }
  EXPECT_EQ(one_by_one, together);
}

TEST(Energy, refuses_what_it_cannot_do) {
  const Sample x = test::drawn_sample(5, 2, {"", 5, 5}, 11);
  test::expect_error(ErrorCode::invalid_option, "energy beta = 0, needs > 0 and < 2", [&] {
    (void)energy(x, x, {{"beta", 0.0}});
  });
  test::expect_error(ErrorCode::invalid_option,
                     "energy beta = 2, needs > 0 and < 2: at 2 only the means would be compared", [&] {
                       (void)energy(x, x, {{"beta", 2.0}});
                     });
  test::expect_error(ErrorCode::invalid_option, "energy beta = 1.5 with form sliced, needs beta = 1; use form full",
                     [&] {
                       (void)energy(x, x, {{"beta", 1.5}, {"form", kSliced}});
                     });
  EXPECT_THROW((void)energy(x, x, {{"slices", 0.0}}), Error);
}

}  // namespace
}  // namespace kqd
