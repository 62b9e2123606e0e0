#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kqd/core/warning.hpp"
#include "metrics/features/group_sum_plan.hpp"
#include "metrics/method.hpp"

namespace kqd {

/// A statistic of group sums made ready for some rows of a pool: all that its distance and its plan are made of.
struct FeatureSetup {
  FeatureMap map;
  std::unique_ptr<const GroupStatistic> statistic;
  std::vector<std::size_t> rows;  ///< position -> row of (X, Y)
  MethodOptions frozen;           ///< the options with all that came from the pool made explicit
  std::size_t num_reference = 0;
  std::string_view no_interval;  ///< why half-samples say nothing about this statistic; empty: they do
  std::vector<Detail> details;
  Warnings warnings;
};

/// Makes a method ready; label-blind except for rows that it holds out.
using SetUp = FeatureSetup (*)(const TestPool& pool, const MethodOptions& options, const PlanRequest& request);

/// MethodInfo::prepare from a set-up.
[[nodiscard]] PreparedPlan prepare_by_features(const TestPool& pool, const MethodOptions& options,
                                               const PlanRequest& request, SetUp set_up);

/// The statistic of two samples as they are, and what it was made of.
struct FeatureDistance {
  DistanceResult result;
  std::size_t num_features = 0;
  std::size_t num_x = 0;  ///< rows of X that took part
  std::size_t num_y = 0;
};

/// MethodInfo::distance from a set-up. Rows are put in the order in which a test would have them, so what is drawn from
/// the pool is what the test draws.
[[nodiscard]] FeatureDistance distance_by_features(const SampleView& x, const SampleView& y,
                                                   const MethodOptions& options, SetUp set_up);

/// The points a caller gave as DirectionOptions::reference_points (landmarks, locations); unset when none were. Throws
/// Error{shape_mismatch, non_finite_value}.
[[nodiscard]] std::optional<Matrix<double>> given_points(const MethodOptions& options, std::size_t dim);

/// Options in which `points` are given.
[[nodiscard]] MethodOptions with_points(MethodOptions options, Matrix<double> points);

/// Throws Error{empty_sample} when a sample has one row: `what` is the form that needs two.
void require_two_rows(const TestPool& pool, std::string_view what);

}  // namespace kqd
