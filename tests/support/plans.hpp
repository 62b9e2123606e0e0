#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kqd/kqd.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/method.hpp"
#include "support/drawn_sample.hpp"

namespace kqd::test {

inline std::vector<PlanCase> plan_cases() {
  return {{"equal", 20, 20},
          {"unequal", 12, 21},
          {"rare", 2, 25},
          {"ties", 18, 18, false, true},
          {"unequal ties", 15, 9, false, true},
          {"weights", 10, 17, true, false},
          {"weighted ties", 12, 12, true, true}};
}

/// The rows that permutation b of a batch labels X (or Y), in the order of the plan, with their weights.
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
  std::vector<LabelBatch> batches;
  std::vector<double> values;

  Permuted(const std::string& id, const SampleView& x, const SampleView& y, const MethodOptions& options,
           const Design& design = Design::independent(), unsigned count = 6)
      : pool(make_test_pool(x, y, ThreadCount{1})),
        prepared(method_with_id(id).prepare(pool, options, request(design))),
        values(count) {
    const PermutationSource source(design, {x.size(), y.size()}, prepared.rows, options.seed);
    constexpr unsigned kCapacity = LabelBatch::kCapacity;
    for (unsigned first = 0; first < count; first += kCapacity) {
      source.fill(PermutationMode::random, first / kCapacity, std::min(kCapacity, count - first),
                  batches.emplace_back());
    }
    evaluate(values, ThreadCount{2});
  }

  void evaluate(std::span<double> into, ThreadCount threads) const { prepared.plan->evaluate(batches, into, threads); }

  static PlanRequest request(const Design& design) {
    PlanRequest wanted;
    wanted.swaps_only = design.kind == DesignKind::paired;
    wanted.permutation_count = 100;
    return wanted;
  }

  [[nodiscard]] Sample group(unsigned k, bool is_x) const {
    return labelled(pool, prepared, batches[k / LabelBatch::kCapacity], k % LabelBatch::kCapacity, is_x);
  }
};

/// How far the value of a plan may be from the distance between the rows of its permutation.
struct PlanTolerance {
  double slacks = 1.0;    ///< times the bound that the plan derives for its own arithmetic, Plan::tie_slack()
  double relative = 0.0;  ///< of the distance, for its own arithmetic
  double of_scale = 0.0;  ///< of the pooled scale, likewise
  double absolute = 0.0;
  /// Largest slack, of the pooled scale; 0: 2e-6 of the distance. A slack that forgives everything proves nothing.
  double slack_of_scale = 0.0;
};

/// A distance that adds up other sums than the plan does.
inline constexpr PlanTolerance kOtherSums = {.relative = 1e-10, .absolute = 1e-14};
/// A distance whose error is no larger than that of the plan.
inline constexpr PlanTolerance kSameError = {.slacks = 2.0};

/// Expects that the values of permutations are the distances between their groups of rows with the options frozen, and
/// that they have the same bits for other numbers of threads.
inline void expect_plan_equals_distance(const std::string& id, const SampleView& x, const SampleView& y,
                                        const MethodOptions& options, const PlanTolerance& tolerance = kOtherSums,
                                        const Design& design = Design::independent(), unsigned count = 6) {
  const Permuted found(id, x, y, options, design, count);
  ASSERT_GT(found.prepared.pooled_scale, 0.0);
  for (const unsigned threads : {1U, 3U}) {
    std::vector<double> again(count);
    found.evaluate(again, ThreadCount{threads});
    EXPECT_EQ(again, found.values) << id << " on " << threads << " threads";
  }
  for (const unsigned k : {0U, 1U, 2U, 3U, 4U, 5U, 63U, 65U}) {
    if (k >= count) break;
    const double direct =
        method_with_id(id).distance(found.group(k, true), found.group(k, false), found.prepared.frozen).statistic;
    const double size = std::abs(direct);
    const double scale = found.prepared.pooled_scale;
    const double slack = found.prepared.plan->tie_slack(size);
    EXPECT_NEAR(found.values[k], direct,
                tolerance.slacks * slack + tolerance.relative * size + tolerance.of_scale * scale + tolerance.absolute)
        << id << " permutation " << k;
    EXPECT_LT(slack, tolerance.slack_of_scale > 0.0 ? tolerance.slack_of_scale * scale : 2e-6 * size + 1e-12) << id;
  }
}

/// The same for samples drawn for a case.
inline void expect_plan_equals_distance(const std::string& id, const PlanCase& c, std::size_t dim,
                                        const MethodOptions& options, const PlanTolerance& tolerance = kOtherSums,
                                        Seed seed = Seed{77}, double shift = 0.0, unsigned count = 6) {
  SCOPED_TRACE(id + " " + c.name + " in " + std::to_string(dim) + " dimensions, p = " + std::to_string(options.power) +
               " " + to_string(options.weighting) + " " + to_string(options.kernel));
  const Sample x = drawn_sample(c.nx, dim, c, 1, seed);
  const Sample y = drawn_sample(c.ny, dim, c, 2, seed, shift);
  expect_plan_equals_distance(id, x, y, options, tolerance, Design::independent(), count);
}

/// Expects the same bits for any number of threads and any way of cutting permutations into calls.
inline void expect_same_bits(const std::string& id, const SampleView& x, const SampleView& y,
                             const MethodOptions& options, const Design& design = Design::independent()) {
  const Permuted found(id, x, y, options, design, 138);
  const std::vector<LabelBatch>& batches = found.batches;
  for (unsigned threads = 1; threads <= 8; ++threads) {
    std::vector<double> again(138);
    found.evaluate(again, ThreadCount{threads});
    EXPECT_EQ(again, found.values) << id << " on " << threads << " threads";
  }
  std::vector<double> one_by_one(138);
  for (std::size_t k = 0; k < batches.size(); ++k) {
    found.prepared.plan->evaluate({&batches[k], 1}, std::span(one_by_one).subspan(64 * k, batches[k].count),
                                  ThreadCount{2});
  }
  EXPECT_EQ(one_by_one, found.values) << id;
  const Permuted one(id, x, y, options, design, 1);
  EXPECT_EQ(one.values[0], found.values[0]) << id;
}

}  // namespace kqd::test
