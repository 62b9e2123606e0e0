#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/statistic_bundle.hpp"
#include "kqd/core/plan.hpp"
#include "kqd/metrics/methods.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {

struct SharedSlices;
class GroupedRows;

/// The needs of a test that a plan has to know besides the options of the statistic.
struct PlanRequest {
  bool set_aside = true;    ///< pooled reference points are held out of the samples
  bool swaps_only = false;  ///< labels move only by swaps of row i of X with row i of Y (pairs, sign flips)
  bool bound_rows =
      false;               ///< some rows are labelled together or within groups: no choice of rows may depend on labels
  bool own_scales = true;  ///< columns are measured in their own scales, by methods that can
  std::size_t permutation_count = 1;  ///< how many permutations the plan will evaluate, for estimates of its time
  /// Groups of rows are permuted, by methods that can (MethodInfo::groups); the plan then has one position per group.
  bool groups = false;
  /// Adds to some rows of (X, Y) those that must be held out together with them, by the design of the test.
  std::function<std::vector<std::size_t>(std::span<const std::size_t> rows)> whole_units;
};

/// A statistic prepared on a pool, with everything that a report says about it.
struct PreparedPlan {
  std::unique_ptr<const Plan> plan;  ///< the statistic; of an aggregate: the one its effect size is measured by
  AggregatedPlan aggregate = {};     ///< has bundles when several statistics are tested as one
  /// tau_p along each direction for the first permutation of a batch; null for plans without directions.
  std::function<std::vector<double>(const LabelBatch& batch, ThreadCount threads)> per_direction;
  std::vector<std::size_t> rows;               ///< position of the plan -> row of (X, Y); missing rows are held out
  std::shared_ptr<const GroupedRows> grouped;  ///< the groups of `rows` that are permuted; null: `rows` themselves
  std::size_t num_set_aside = 0;
  double pooled_scale = 0.0;  ///< spread of the pool in the units of the statistic: effect sizes are divided by it
  bool squares = false;  ///< a squared distance: under equal distributions it shrinks like 1/n, others like 1/sqrt(n)
  MethodOptions frozen;  ///< the options with everything that came from the pool made explicit
  std::size_t num_directions = 0;
  std::size_t num_reference = 0;
  std::shared_ptr<const Directions> directions;  ///< the directions behind per_direction
  std::string_view no_interval;                  ///< why half-samples say nothing about this statistic; empty: they do
  /// Lower and upper end of an interval for an effect size that is the statistic itself; null: by half-samples.
  std::function<std::array<double, 2>(double confidence)> effect_interval;
  double expected_seconds = 0.0;  ///< of one thread for all permutations, for methods that cannot reuse work; else 0
  std::vector<Detail> details;
  Warnings warnings;
};

/// A p-value from the limiting distribution of a statistic: no permutations, and exact only in the limit.
struct AsymptoticResult {
  DistanceResult result;
  double pvalue = 1.0;
  std::string limiting_distribution;  ///< "chi-square with 10 degrees of freedom"
};

/// A method as the library runs it: its public description and the functions behind it. To add one, write a function
/// that returns a Method, declare it in all_methods.hpp and list it in methods.cpp.
struct Method {
  MethodInfo info;
  /// Null for methods that are only a test.
  DistanceResult (*distance)(const SampleView& x, const SampleView& y, const MethodOptions& options) = nullptr;
  /// For distances that compare quantiles along directions which can be drawn once for many samples; null for others.
  SharedSlices (*slices)(const Pool& pool, const MethodOptions& options) = nullptr;
  PreparedPlan (*prepare)(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) = nullptr;
  /// Makes explicit those of its own parameters that each pair of a matrix would choose again; null where none are.
  void (*share)(const Pool& pool, MethodOptions& options) = nullptr;
  /// For methods with a limiting distribution; null for the others.
  AsymptoticResult (*asymptotic)(const SampleView& x, const SampleView& y, const MethodOptions& options) = nullptr;
};

/// The method with this id; throws Error{invalid_option} with a suggestion for a misspelt one.
[[nodiscard]] const Method& method_with_id(std::string_view id);

/// Throws Error{invalid_option} for a test that has no distance.
void require_distance(const MethodInfo& method);

/// The distance between two samples by a method; the public distance() finds the method by its id.
[[nodiscard]] DistanceResult distance(const Method& method, const SampleView& x, const SampleView& y,
                                      const MethodOptions& options = {}, const RunControl* control = nullptr);

/// The groups of some rows of a pool, position -> row of (X, Y).
[[nodiscard]] std::shared_ptr<const GroupedRows> group_rows(const TestPool& pool, std::span<const std::size_t> rows);

/// The start of a plan on all rows of a pool: options with the kernel's bandwidth from the pool, rows in its order.
[[nodiscard]] PreparedPlan plan_on_all_rows(const TestPool& pool, const MethodOptions& options);

}  // namespace kqd
