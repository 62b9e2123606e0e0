// Every plan against direct recomputation: the rows of each permutation are copied into two samples, and the distance
// of the same method is taken with the directions frozen. Nothing sorted once, nothing scanned.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/test_pool.hpp"
#include "support/plan_cases.hpp"

namespace kqd {
namespace {

using test::drawn_sample;
using test::labelled;
using test::PlanCase;

void expect_plan_equals_recomputation(const std::string& id, const PlanCase& c, const MethodOptions& options) {
  SCOPED_TRACE(id + " " + c.name + " p=" + std::to_string(options.power) + " " + to_string(options.weighting));
  const MethodInfo& method = find_method(id);
  const Sample x = drawn_sample(c.nx, 3, c, 1);
  const Sample y = drawn_sample(c.ny, 3, c, 2);
  const TestPool pool = make_test_pool(x, y, options.seed, ThreadCount{1});
  const PreparedPlan prepared = method.prepare(pool, options, {});
  const PermutationSource source(Design::independent(), {c.nx, c.ny}, prepared.rows, options.seed);
  LabelBatch batch;
  source.fill(PermutationMode::random, 0, 5, batch);
  std::vector<double> values(5);
  prepared.plan->evaluate({&batch, 1}, values, ThreadCount{2});
  for (unsigned b = 0; b < 5; ++b) {
    const Sample group_x = labelled(pool, prepared, batch, b, true);
    const Sample group_y = labelled(pool, prepared, batch, b, false);
    const double direct = method.distance(group_x, group_y, prepared.frozen).statistic;
    // What the plan states for its own arithmetic (a derived bound), and 1e-10 for that of the direct road.
    const double bound = prepared.plan->tie_slack(std::abs(direct)) + 1e-10 * std::abs(direct) + 1e-14;
    EXPECT_NEAR(values[b], direct, bound) << "permutation " << b;
    EXPECT_LT(prepared.plan->tie_slack(std::abs(direct)), 2e-6 * std::abs(direct) + 1e-12);
  }
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

TEST(Plans, pooled_reference_points_are_set_aside_and_the_rest_equals_recomputation) {
  MethodOptions options = small_options();
  options.directions.reference = ReferenceMeasure::pooled;
  const PlanCase c = cases()[1];
  const Sample x = drawn_sample(c.nx, 3, c, 1);
  const Sample y = drawn_sample(c.ny, 3, c, 2);
  const TestPool pool = make_test_pool(x, y, options.seed, ThreadCount{1});
  const PreparedPlan aside = find_method("ekqd").prepare(pool, options, {});
  EXPECT_EQ(aside.num_set_aside, 4U);
  EXPECT_EQ(aside.rows.size(), c.nx + c.ny - 4);
  const PreparedPlan kept = find_method("ekqd").prepare(pool, options, {.set_aside = false, .whole_units = {}});
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
      const TestPool pool = make_test_pool(x, y, options.seed, ThreadCount{1});
      const PreparedPlan prepared = find_method(id).prepare(pool, options, {});
      const PermutationSource source(Design::independent(), {c.nx, c.ny}, prepared.rows, options.seed);
      std::vector<LabelBatch> batches(3);
      for (std::size_t k = 0; k < 3; ++k) source.fill(PermutationMode::random, k, k < 2 ? 64 : 10, batches[k]);
      std::vector<double> together(138);
      prepared.plan->evaluate(batches, together, ThreadCount{1});
      for (unsigned threads = 2; threads <= 8; ++threads) {
        std::vector<double> again(138);
        prepared.plan->evaluate(batches, again, ThreadCount{threads});
        EXPECT_EQ(again, together) << id << " " << threads;
      }
      std::vector<double> one_by_one(138);
      for (std::size_t k = 0; k < 3; ++k) {
        prepared.plan->evaluate({&batches[k], 1}, std::span(one_by_one).subspan(64 * k, batches[k].count),
                                ThreadCount{2});
      }
      EXPECT_EQ(one_by_one, together) << id << " p = " << power;
    }
  }
}

}  // namespace
}  // namespace kqd
