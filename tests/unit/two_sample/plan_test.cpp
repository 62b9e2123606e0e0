// Every plan against direct recomputation: the rows of each permutation are copied into two samples, and the distance
// of the same method is taken with the directions frozen. Nothing sorted once, nothing scanned.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/method.hpp"
#include "support/plans.hpp"

namespace kqd {
namespace {

using test::drawn_sample;
using test::PlanCase;

void expect_plan_equals_recomputation(const std::string& id, const PlanCase& c, const MethodOptions& options) {
  test::expect_plan_equals_distance(id, c, 3, options);
}

const std::vector<PlanCase>& cases() {
  static const std::vector<PlanCase> all = {{"equal", 40, 40},
                                            {"unequal", 23, 40},
                                            {"rare", 3, 50},
                                            {"ties", 40, 40, false, true},
                                            {"unequal ties", 31, 17, false, true},
                                            {"weights", 20, 33, true, false},
                                            {"weighted ties", 24, 24, true, true}};
  return all;
}

MethodOptions small_options() {
  MethodOptions options;
  options.directions.num_directions = 5;
  options.directions.num_reference = 4;
  options.seed = Seed{3};
  return options;
}

TEST(Plans, equal_direct_recomputation_for_every_power) {
  for (const char* id : {"ekqd", "supkqd", "ekqd-centered", "supkqd-centered"}) {
    for (const PlanCase& c : cases()) {
      for (const double power : {1.0, 1.5, 2.0, 3.0, 12.0, std::numeric_limits<double>::infinity()}) {
        MethodOptions options = small_options();
        options.power = power;
        expect_plan_equals_recomputation(id, c, options);
      }
    }
  }
}

TEST(Plans, equal_direct_recomputation_for_every_weighting) {
  for (const char* weighting :
       {"triangle", "reverse-triangle:0.3", "slope-up", "slope-down:0.5", "interval:0.1:0.6", "beta:2:3", "atom:0.5"}) {
    for (const PlanCase& c : cases()) {
      for (const double power : {1.0, 2.0}) {
        MethodOptions options = small_options();
        options.power = power;
        options.weighting = parse_level_weights(weighting);
        expect_plan_equals_recomputation("ekqd", c, options);
        expect_plan_equals_recomputation("supkqd-centered", c, options);
      }
    }
  }
}

TEST(Plans, equal_direct_recomputation_for_other_kernels_and_directions) {
  for (const char* kernel : {"linear", "polynomial:3:1", "laplace", "gaussian@0.5+matern32"}) {
    for (const DirectionFamily family : {DirectionFamily::gaussian, DirectionFamily::linear, DirectionFamily::axis}) {
      MethodOptions options = small_options();
      options.kernel = parse_kernel(kernel);
      options.directions.family = family;
      expect_plan_equals_recomputation("ekqd", cases()[1], options);
      expect_plan_equals_recomputation("ekqd-centered", cases()[1], options);
    }
  }
}

TEST(Plans, pooled_reference_points_are_held_out) {
  MethodOptions options = small_options();
  options.directions.reference = ReferenceMeasure::pooled;
  const PlanCase c = cases()[1];
  const Sample x = drawn_sample(c.nx, 3, c, 1);
  const Sample y = drawn_sample(c.ny, 3, c, 2);
  const TestPool pool = make_test_pool(x, y, ThreadCount{1});
  const PreparedPlan aside = method_with_id("ekqd").prepare(pool, options, {});
  EXPECT_EQ(aside.num_set_aside, 4U);
  EXPECT_EQ(aside.rows.size(), c.nx + c.ny - 4);
  const PreparedPlan kept = method_with_id("ekqd").prepare(pool, options, {.set_aside = false, .whole_units = {}});
  EXPECT_EQ(kept.rows.size(), c.nx + c.ny);
}

TEST(Plans, mmd_equals_direct_recomputation) {
  for (const char* id : {"mmd", "mmd-v"}) {
    for (const PlanCase& c : cases()) {
      for (const char* kernel : {"gaussian", "polynomial:2:1", "energy:1", "linear"}) {
        MethodOptions options = small_options();
        options.kernel = parse_kernel(kernel);
        expect_plan_equals_recomputation(id, c, options);
      }
    }
  }
}

TEST(Plans, mmd_has_the_check_values) {
  const Sample x{Matrix<double>(2, 1, {0, 1}), {}, {}};
  const Sample y{Matrix<double>(3, 1, {.5, 2, 3}), {}, {}};
  MethodOptions options;
  options.kernel = parse_kernel("gaussian@1");
  EXPECT_NEAR(mmd(x, y, options).statistic, 0.0471360040, 1e-10);
  EXPECT_NEAR(mmd_v(x, y, options).statistic_power, 0.4688573340, 1e-10);
  const Sample same{Matrix<double>(3, 1, {1, 2, 3}), {}, {}};
  EXPECT_NEAR(mmd(same, same, options).statistic, -0.3670229772, 1e-10);
  EXPECT_NEAR(mmd_v(same, same, options).statistic, 0.0, 1e-8);
}

TEST(Plans, give_the_same_bits_for_any_threads_and_any_cut_into_batches) {
  for (const char* id : {"ekqd", "supkqd", "ekqd-centered", "mmd"}) {
    for (const double power : {1.0, 2.0}) {
      MethodOptions options = small_options();
      options.power = power;
      const PlanCase c = cases()[1];
      const Sample x = drawn_sample(c.nx, 3, c, 1);
      const Sample y = drawn_sample(c.ny, 3, c, 2);
      test::expect_same_bits(id, x, y, options);
    }
  }
}

}  // namespace
}  // namespace kqd
