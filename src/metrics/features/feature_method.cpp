#include "metrics/features/feature_method.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/fail.hpp"
#include "metrics/checked_samples.hpp"

namespace kqd {

PreparedPlan prepare_by_features(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                                 SetUp set_up) {
  FeatureSetup setup = set_up(pool, options, request);
  if (request.groups && setup.grouped == nullptr) setup.grouped = group_rows(pool, setup.rows);
  const bool products = setup.statistic->needs_products();
  PooledFeatures features = setup.grouped != nullptr
                                ? PooledFeatures(setup.map, *setup.grouped, products, options.threads)
                                : PooledFeatures(setup.map, pool, setup.rows, products, options.threads);
  PreparedPlan prepared;
  prepared.squares = !setup.statistic->is_root();
  auto plan = std::make_unique<GroupSumPlan>(std::move(features), std::move(setup.statistic));
  prepared.pooled_scale = plan->pooled_scale();
  prepared.plan = std::move(plan);
  prepared.num_set_aside = pool.order.size() - setup.rows.size();
  prepared.rows = std::move(setup.rows);
  prepared.grouped = std::move(setup.grouped);
  prepared.frozen = std::move(setup.frozen);
  prepared.num_reference = setup.num_reference;
  prepared.no_interval = setup.no_interval;
  prepared.details = std::move(setup.details);
  prepared.warnings = std::move(setup.warnings);
  return prepared;
}

FeatureDistance distance_by_features(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options,
                                     SetUp set_up) {
  FeatureDistance distance;
  DistanceResult& result = distance.result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const TestPool pool = make_test_pool(x, y, options.threads);
  FeatureSetup setup = set_up(pool, options, {});
  const GroupStatistic& statistic = *setup.statistic;
  // X first, then Y: features of equal samples then round in the same way, and their distance is 0.
  const auto first_y =
      std::stable_partition(setup.rows.begin(), setup.rows.end(), [&](std::size_t row) { return row < x.size(); });
  distance.num_x = static_cast<std::size_t>(first_y - setup.rows.begin());
  distance.num_y = setup.rows.size() - distance.num_x;
  const PooledFeatures features(setup.map, pool, setup.rows, statistic.needs_products(), options.threads,
                                distance.num_x);
  result.statistic = statistic.value(features.observed_x(), features.observed_y(), features);
  result.statistic_power = statistic.is_root() ? result.statistic * result.statistic : result.statistic;
  result.kernel = std::move(setup.frozen.kernel);
  result.num_reference = setup.num_reference;
  result.details = std::move(setup.details);
  std::ranges::move(setup.warnings, std::back_inserter(result.warnings));
  distance.num_features = features.num_features();
  return distance;
}

std::optional<Matrix<double>> given_points(const MethodOptions& options, std::size_t dim) {
  if (options.directions.reference != ReferenceMeasure::points) return std::nullopt;
  const Matrix<double>& points = options.directions.reference_points;
  if (points.cols() != dim) {
    fail(ErrorCode::shape_mismatch, "reference points have {} column{} and the data {}, expected the same number",
         points.cols(), points.cols() == 1 ? "" : "s", dim);
  }
  validate(SampleView{points, {}}, "reference points");
  return points;
}

MethodOptions with_points(MethodOptions options, Matrix<double> points) {
  options.directions.reference = ReferenceMeasure::points;
  options.directions.reference_points = std::move(points);
  options.directions.num_reference.reset();  // follows from the points
  return options;
}

void require_two_rows(const TestPool& pool, std::string_view what) {
  for (const auto& [sample, name] : {std::pair{&pool.x, "X"}, std::pair{&pool.y, "Y"}}) {
    if (sample->size() < 2) fail(ErrorCode::empty_sample, "{} has one row, {} needs at least two", name, what);
  }
}

}  // namespace kqd
