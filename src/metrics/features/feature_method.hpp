#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kqd/core/warning.hpp"
#include "metrics/features/group_sum_plan.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// A statistic of group sums that is set up for some rows of a pool: the common input of its distance and its plan.
struct FeatureSetup {
  FeatureMap map;
  std::unique_ptr<const GroupStatistic> statistic;
  std::vector<std::size_t> rows;                    ///< position -> row of (X, Y)
  std::shared_ptr<const GroupedRows> grouped = {};  ///< the groups of them that are permuted; null: rows
  MethodOptions frozen;                             ///< the options with all that came from the pool made explicit
  std::size_t num_reference = 0;
  std::string_view no_interval;  ///< why half-samples give no interval; empty: they give one
  std::vector<Detail> details;
  Warnings warnings;
};

/// Sets up a method. The result depends on the labels only through the rows that are held out.
using SetUp = FeatureSetup (*)(const TestPool& pool, const MethodOptions& options, const PlanRequest& request);

/// MethodInfo::prepare from a set-up.
[[nodiscard]] PreparedPlan prepare_by_features(const TestPool& pool, const MethodOptions& options,
                                               const PlanRequest& request, SetUp set_up);

/// The statistic of two samples and the numbers of features and rows behind it.
struct FeatureDistance {
  DistanceResult result;
  std::size_t num_features = 0;
  std::size_t num_x = 0;  ///< rows of X that were used
  std::size_t num_y = 0;
};

/// MethodInfo::distance from a set-up. Rows are in the order of a test, so that draws from the pool are those of the
/// test.
[[nodiscard]] FeatureDistance distance_by_features(const SampleView& x, const SampleView& y,
                                                   const MethodOptions& options, SetUp set_up);

/// The points passed as DirectionOptions::reference_points (landmarks, locations), if any. Throws
/// Error{shape_mismatch, non_finite_value}.
[[nodiscard]] std::optional<Matrix<double>> given_points(const MethodOptions& options, std::size_t dim);

/// The options with `points` as reference points.
[[nodiscard]] MethodOptions with_points(MethodOptions options, Matrix<double> points);

/// Throws Error{empty_sample} when a sample has one row: `what` is the form that needs two.
void require_two_rows(const TestPool& pool, std::string_view what);

}  // namespace kqd
