#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kernel/resolve.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/median/geometric_median.hpp"
#include "metrics/stored_gram.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

constexpr std::string_view kWhat = "the geometric median";
constexpr std::array<ParameterInfo, 2> kParameters = {{
    {"iterations", 1000, 1, 1e6, true, "products with the Gram matrix, at most"},
    {"tolerance", 1e-10, 0, 1, false, "length of the last step, relative to the mean distance from the median"},
}};

MedianOptions median_options(const MethodOptions& options) {
  const ParameterValues values("kmedian", kParameters, options.parameters);
  return {.iterations = values.count("iterations"), .tolerance = values.value("tolerance")};
}

// Distinct rows of a pool and their Gram matrix, moved to its mean: medians and distances do not feel that, rounding
// does.
struct Points {
  DistinctRows rows;
  Matrix<double> gram;

  Points(const Pool& pool, const Kernel& kernel, const MethodOptions& options) : rows(distinct_rows(pool)) {
    require_storable_gram(rows.size(), pool.dim(), options.allow_quadratic, kWhat);
    gram = gram_matrix(kernel, rows.points, options.threads);
    centre_gram(gram);
  }

  // |sum_i h_i k(z_i, .)| for h = a - b of sum 0.
  [[nodiscard]] double distance(std::span<const double> a, std::span<const double> b) const {
    std::vector<double> h(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) h[i] = a[i] - b[i];
    CompensatedSum squared;
    for (std::size_t i = 0; i < h.size(); ++i) {
      if (h[i] == 0.0) continue;
      double row_sum = 0.0;
      for (std::size_t j = 0; j < h.size(); ++j) row_sum += gram(i, j) * h[j];
      squared.add(h[i] * row_sum);
    }
    return std::sqrt(std::max(0.0, squared.value()));
  }
};

// Rough time of one thread: a product of a matrix with a vector reads memory at some 20 GB/s, and few medians need more
// products than this.
double seconds_of(const SampleView& x, const SampleView& y, const MedianOptions& options, std::size_t count) {
  constexpr std::size_t kUsualProducts = 60;
  const auto nx = static_cast<double>(x.size());
  const auto ny = static_cast<double>(y.size());
  const auto products = static_cast<double>(std::min(options.iterations, kUsualProducts));
  return 4e-10 * (nx * nx + ny * ny) * products * static_cast<double>(count);
}

void require_feasible_medians(const SampleView& x, const SampleView& y, double seconds, std::size_t count,
                              bool allowed) {
  require_feasible_seconds(seconds, allowed,
                           fmt::format("{} of {} and {} rows, {} times", kWhat, x.size(), y.size(), count));
}

DistanceResult kmedian_distance(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const MedianOptions median = median_options(options);
  require_feasible_medians(x, y, seconds_of(x, y, median, 1), 1, options.allow_quadratic);
  result.kernel = resolve_on_test_pool(x, y, options, result.warnings);
  const Points points({x.points, y.points}, Kernel(result.kernel), options);
  const auto median_of = [&](const SampleView& sample, std::size_t first) {
    const std::vector<double> weights = normalised_weights(sample);
    std::vector<double> mass(points.rows.size(), 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) mass[points.rows.of_position[first + i]] += weights[i];
    return geometric_median(points.gram, mass, median);
  };
  const GeometricMedian of_x = median_of(x, 0);
  const GeometricMedian of_y = median_of(y, x.size());
  result.statistic = points.distance(of_x.weights, of_y.weights);
  result.statistic_power = result.statistic * result.statistic;
  result.details = {{"objective_x", of_x.objective},
                    {"objective_y", of_y.objective},
                    {"iterations", static_cast<double>(std::max(of_x.iterations, of_y.iterations))},
                    {"converged", of_x.converged && of_y.converged ? 1.0 : 0.0}};
  if (!of_x.converged || !of_y.converged) {
    warn(result.warnings, WarningId::median_not_converged, median.iterations);
  }
  return result;
}

PreparedPlan prepare_kmedian(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const MedianOptions median = median_options(options);
  const double seconds = seconds_of(pool.x, pool.y, median, request.permutation_count);
  require_feasible_medians(pool.x, pool.y, seconds, request.permutation_count, options.allow_quadratic);
  PreparedPlan prepared = plan_on_all_rows(pool, options);
  prepared.expected_seconds = seconds;
  auto points = std::make_shared<const Points>(pool.rows(), Kernel(prepared.frozen.kernel), options);
  std::vector<double> weights = pool.weights_of(pool.order);
  CompensatedSum variance;
  double widest = 0.0;
  for (const std::size_t point : points->rows.of_position) {
    variance.add(points->gram(point, point));
    widest = std::max(widest, points->gram(point, point));
  }
  prepared.pooled_scale = std::sqrt(variance.value() / static_cast<double>(pool.order.size()));
  // Each median is within the tolerance, times a mean distance of at most 2 |widest point|, of the exact one. Products
  // of n terms add n eps of the widest point. Permutations that differ by the names of the groups only, or by rows that
  // are equal, give the same bits. A loose tolerance of the caller must not make all permutations ties.
  constexpr double kLoosest = 1e-8;
  const double slack = (4.0 * std::min(median.tolerance, kLoosest) +
                        64.0 * static_cast<double>(points->rows.size()) * std::numeric_limits<double>::epsilon()) *
                       std::sqrt(widest);
  prepared.plan = std::make_unique<DirectPlan>(
      pool.order.size(),
      [points, median, weights = std::move(weights)](std::span<const std::size_t> x, std::span<const std::size_t> y) {
        const GeometricMedian of_x =
            geometric_median(points->gram, weights_on_points(points->rows, x, weights), median);
        const GeometricMedian of_y =
            geometric_median(points->gram, weights_on_points(points->rows, y, weights), median);
        return points->distance(of_x.weights, of_y.weights);
      },
      [slack](double) { return slack; });
  return prepared;
}

}  // namespace

Method kmedian_method() {
  return {
      .info = {.id = "kmedian",
               .family = "other embeddings",
               .summary = "distance between the geometric medians of the feature map",
               .reports = "the distance |med_P - med_Q| in the feature space, >= 0",
               .cost = "T N^2 for T products with the Gram matrix, usually 20 to 60",
               .permutation = "T N^2",
               .calibrations = "permutation, sign-flip",
               .details =
                   "med_P minimises the mean distance to k(x_i, .), so that few outliers move it little. "
                   "Newton's iteration from the mean, each step solved by conjugate gradients, until a step is "
                   "shorter than tolerance times that mean distance: the default gives the distance to about 1e-8 or "
                   "better. Equal rows are merged first. Where the minimum is not unique (two rows; the linear "
                   "kernel on the line with an even number of rows) the start, the mean, decides. No shortcut: "
                   "every permutation is computed again on the pooled Gram matrix.",
               .reference =
                   "Nienkoetter, Jiang: Kernel-Based Generalized Median Computation for Consensus Learning (2023)",
               .sign_flip = true,
               .uses = {.kernel = true},
               .parameters = kParameters},
      .distance = kmedian_distance,
      .prepare = prepare_kmedian};
}

}  // namespace kqd
