#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/test_pool.hpp"

namespace kqd::test {

/// The rows that permutation b of a batch calls X (or Y), in the order of the plan, with their weights.
inline Sample labelled(const TestPool& pool, const PreparedPlan& prepared, const LabelBatch& batch, unsigned b,
                       bool is_x) {
  const Pool rows{pool.x.points, pool.y.points, prepared.rows};
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (batch.is_x(i, b) == is_x) chosen.push_back(i);
  }
  Sample sample{gather(rows, chosen), {}, {}};
  if (pool.weighted()) {
    for (const std::size_t i : chosen) sample.weights.push_back(pool.weight_of_row(prepared.rows[i]));
  }
  return sample;
}

/// A prepared test and the values of some random permutations, the observed one first.
struct Permuted {
  TestPool pool;
  PreparedPlan prepared;
  LabelBatch batch;
  std::vector<double> values;

  Permuted(const std::string& id, const SampleView& x, const SampleView& y, const MethodOptions& options,
           const Design& design = Design::independent(), unsigned count = 6)
      : pool(make_test_pool(x, y, options.seed, ThreadCount{1})),
        prepared(find_method(id).prepare(pool, options, request(design))),
        values(count) {
    const PermutationSource source(design, {x.size(), y.size()}, prepared.rows, options.seed);
    source.fill(PermutationMode::random, 0, count, batch);
    prepared.plan->evaluate({&batch, 1}, values, ThreadCount{2});
  }

  static PlanRequest request(const Design& design) {
    PlanRequest wanted;
    wanted.swaps_only = design.kind == DesignKind::paired;
    wanted.permutation_count = 100;
    return wanted;
  }

  [[nodiscard]] Sample group(unsigned b, bool is_x) const { return labelled(pool, prepared, batch, b, is_x); }
};

/// Every permutation's value is the distance between its groups: to what the plan states for its own arithmetic (a
/// derived bound), and `relative` for that of the direct road.
inline void expect_plan_is_distance(const std::string& id, const SampleView& x, const SampleView& y,
                                    const MethodOptions& options, const Design& design = Design::independent(),
                                    double relative = 1e-10) {
  const Permuted found(id, x, y, options, design);
  for (unsigned b = 0; b < found.values.size(); ++b) {
    const double direct =
        find_method(id).distance(found.group(b, true), found.group(b, false), found.prepared.frozen).statistic;
    const double slack = found.prepared.plan->tie_slack(std::abs(direct));
    EXPECT_NEAR(found.values[b], direct, slack + relative * std::abs(direct) + 1e-14) << id << " permutation " << b;
    EXPECT_LT(slack, 2e-6 * std::abs(direct) + 1e-10) << id;  // a slack that forgives everything would prove nothing
  }
}

/// The same bits for any number of threads and any way of cutting permutations into calls.
inline void expect_same_bits(const std::string& id, const SampleView& x, const SampleView& y,
                             const MethodOptions& options, const Design& design = Design::independent()) {
  const TestPool pool = make_test_pool(x, y, options.seed, ThreadCount{1});
  const PreparedPlan prepared = find_method(id).prepare(pool, options, Permuted::request(design));
  const PermutationSource source(design, {x.size(), y.size()}, prepared.rows, options.seed);
  std::vector<LabelBatch> batches(2);
  source.fill(PermutationMode::random, 0, 64, batches[0]);
  source.fill(PermutationMode::random, 1, 10, batches[1]);
  std::vector<double> together(74);
  prepared.plan->evaluate(batches, together, ThreadCount{1});
  for (const unsigned threads : {2U, 5U}) {
    std::vector<double> again(74);
    prepared.plan->evaluate(batches, again, ThreadCount{threads});
    EXPECT_EQ(again, together) << id;
  }
  std::vector<double> one_by_one(74);
  prepared.plan->evaluate({batches.data(), 1}, std::span(one_by_one).subspan(0, 64), ThreadCount{2});
  prepared.plan->evaluate({&batches[1], 1}, std::span(one_by_one).subspan(64), ThreadCount{1});
  EXPECT_EQ(one_by_one, together) << id;
}

}  // namespace kqd::test
