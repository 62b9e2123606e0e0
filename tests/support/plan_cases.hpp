#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/test_pool.hpp"
#include "support/permuted.hpp"

namespace kqd::test {

/// Two samples of a test: normal values, whole ones when ties are wanted, weights if wanted.
struct PlanCase {
  std::string name;
  std::size_t nx;
  std::size_t ny;
  bool weighted = false;
  bool ties = false;
};

inline std::vector<PlanCase> plan_cases() {
  return {{"equal", 20, 20},
          {"unequal", 12, 21},
          {"rare", 2, 25},
          {"ties", 18, 18, false, true},
          {"unequal ties", 15, 9, false, true},
          {"weights", 10, 17, true, false},
          {"weighted ties", 12, 12, true, true}};
}

inline Sample drawn_sample(std::size_t n, std::size_t dim, const PlanCase& c, std::uint64_t index) {
  RandomStream stream(Seed{77}, Purpose::test_data, index);
  Sample sample{Matrix<double>(n, dim), {}, {}};
  for (double& v : sample.points.values()) v = c.ties ? std::floor(2.0 * stream.normal()) : stream.normal();
  if (c.weighted) {
    for (std::size_t i = 0; i < n; ++i) sample.weights.push_back(0.25 + stream.uniform());
  }
  return sample;
}

/// Expects that a plan's values are those of the distance between the rows of each permutation, within `relative` of
/// the pooled scale, and that they have the same bits on one thread and on three.
inline void expect_plan_equals_distance(const std::string& id, const PlanCase& c, std::size_t dim,
                                        const MethodOptions& options, double relative) {
  SCOPED_TRACE(id + " " + c.name + " in " + std::to_string(dim) + " dimensions, p = " + std::to_string(options.power));
  const MethodInfo& method = find_method(id);
  const Sample x = drawn_sample(c.nx, dim, c, 1);
  const Sample y = drawn_sample(c.ny, dim, c, 2);
  const TestPool pool = make_test_pool(x, y, options.seed, ThreadCount{1});
  const PreparedPlan prepared = method.prepare(pool, options, {});
  ASSERT_GT(prepared.pooled_scale, 0.0);
  const PermutationSource source(Design::independent(), {c.nx, c.ny}, prepared.rows, options.seed);
  constexpr unsigned kPermutations = 5;
  LabelBatch batch;
  source.fill(PermutationMode::random, 0, kPermutations, batch);
  std::vector<double> values(kPermutations);
  prepared.plan->evaluate({&batch, 1}, values, ThreadCount{1});
  std::vector<double> again(kPermutations);
  prepared.plan->evaluate({&batch, 1}, again, ThreadCount{3});
  EXPECT_EQ(values, again);
  for (unsigned b = 0; b < kPermutations; ++b) {
    const Sample group_x = labelled(pool, prepared, batch, b, true);
    const Sample group_y = labelled(pool, prepared, batch, b, false);
    const double direct = method.distance(group_x, group_y, prepared.frozen).statistic;
    EXPECT_NEAR(values[b], direct, prepared.plan->tie_slack(direct) + relative * prepared.pooled_scale)
        << "permutation " << b;
    EXPECT_LT(prepared.plan->tie_slack(direct), 1e-5 * prepared.pooled_scale);
  }
}

}  // namespace kqd::test
