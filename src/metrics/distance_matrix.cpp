#include "kqd/metrics/distance_matrix.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/pairs.hpp"
#include "core/pool.hpp"
#include "core/warning.hpp"
#include "directions/reference.hpp"
#include "kernel/resolve.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/object_options.hpp"
#include "metrics/quantile/kqd.hpp"
#include "metrics/sample_list.hpp"

namespace kqd {
namespace {

// Draws from the pool of all samples once, so that pairs do not draw again: the options with the draws made explicit.
MethodOptions share(const Method& method, const Pool& pool, const MethodOptions& options, Warnings& warnings) {
  MethodOptions shared = options;
  const bool own_kernel = method.info.uses.directions && has_own_kernel(options.directions.family);
  if (method.info.uses.kernel && !own_kernel) {
    shared.kernel = resolve_kernel(options, pool, warnings);
  }
  if (method.share != nullptr) method.share(pool, shared);
  if (!method.info.uses.directions || own_kernel) return shared;  // other directions follow from the seed only
  if (options.directions.reference == ReferenceMeasure::balanced) {
    fail(ErrorCode::invalid_option,
         "reference balanced takes half of its points from each of two samples; for a matrix use pooled, gaussian or "
         "uniform");
  }
  SharedSlices slices = draw_slices(pool, shared, Over::mean);
  std::ranges::move(slices.warnings, std::back_inserter(warnings));
  const bool centered = method.info.centered;
  shared = freeze(shared, *slices.drawn.directions, centered);
  // Centered forms insist on it; principal functions have norm 1, unless they are whitened.
  if (centered) shared.directions.normalise = options.directions.normalise && !options.directions.whiten;
  return shared;
}

void measure_together(DistanceMatrix& matrix, const Method& method, const Pool& pool,
                      std::span<const SampleView> samples, const RunControl* control) {
  const MethodOptions& options = matrix.shared;
  for (std::size_t i = 0; i < samples.size(); ++i) warn_about_one_row(samples[i], matrix.names[i], matrix.warnings);
  warn_about_pool(pool, samples.front().column_names, matrix.warnings);
  warn_about_scales(pool, samples.front().column_names, matrix.warnings);
  const SharedSlices slices = method.slices(pool, options);
  const Directions& directions = *slices.drawn.directions;
  const std::vector<double> origin = directions.linear() ? pooled_mean(pool) : std::vector<double>{};
  PairwiseGaps gaps = measure_all_pairs(directions, origin, samples, options, slices.over, control);
  matrix.values = std::move(gaps.distances);
  matrix.kernel = directions.kernel().spec();
  matrix.num_directions = directions.count();
  matrix.num_reference = slices.drawn.num_reference;
  // A pair has fewer rows than all samples, so its default may be another number.
  DirectionOptions& shared = matrix.shared.directions;
  if (shared.coefficients.empty() && shared.family != DirectionFamily::axis) shared.num_directions = directions.count();
  if (gaps.num_flat_pairs > 0) {
    warn(matrix.warnings, WarningId::flat_pairs, gaps.num_flat_pairs, all_pairs(samples.size()).size());
  }
}

void measure_one_by_one(DistanceMatrix& matrix, const Method& method, std::span<const SampleView> samples,
                        const RunControl* control) {
  matrix.values = Matrix<double>(samples.size(), samples.size(), 0.0);
  const std::vector<IndexPair> pairs = all_pairs(samples.size());
  PairWarnings of_pairs;
  double done = 0.0;
  for (const auto [i, j] : pairs) {
    stop_point();
    const DistanceResult result = distance(method, samples[i], samples[j], matrix.shared);
    matrix.values(i, j) = matrix.values(j, i) = result.statistic;
    matrix.kernel = result.kernel;
    matrix.num_directions = result.num_directions;
    matrix.num_reference = result.num_reference;
    of_pairs.add(result.warnings);
    done += 1.0;
    if (control != nullptr && control->progress) {
      control->progress({.done = done, .total = static_cast<double>(pairs.size()), .what = "pairs", .counted = true});
    }
  }
  of_pairs.append_to(matrix.warnings, pairs.size());
}

}  // namespace

DistanceMatrix distance_matrix(std::span<const SampleView> samples, std::span<const std::string> names,
                               const DistanceMatrixOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  const Method& method = method_with_id(options.method);
  const MethodOptions statistic = adapted_to_objects(method.info, options.statistic);
  validate(statistic);
  validate_parameters(method.info, statistic.parameters);
  require_distance(method.info);
  if (samples.size() < 2) {
    fail(ErrorCode::shape_mismatch, "a distance matrix of {} sample{}, needs at least two", samples.size(),
         samples.size() == 1 ? "" : "s");
  }
  DistanceMatrix matrix;
  matrix.method = method.info.id;
  matrix.names.assign(names.begin(), names.end());
  for (const SampleView& sample : samples) matrix.sizes.push_back(sample.size());
  matrix.dim = is_of_objects(statistic.kernel) ? 0 : samples.front().dim();
  const CheckedList checked(samples, names, statistic.threads);
  const Sample all = gather_all(checked.samples());
  const TestPool pool = make_test_pool(all, {}, statistic.threads);
  matrix.shared = share(method, pool.rows(), statistic, matrix.warnings);
  if (method.slices != nullptr) {
    measure_together(matrix, method, pool.rows(), checked.samples(), control);
  } else {
    measure_one_by_one(matrix, method, checked.samples(), control);
  }
  return matrix;
}

}  // namespace kqd
