#include "kqd/metrics/mmd.hpp"

#include <cmath>

#include "core/summation.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/laplace_line.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/mean/prepare_mmd.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

// The kernel with its bandwidth, once the cost is known to be feasible.
KernelSpec feasible_kernel(const CheckedSamples& samples, const MethodOptions& options, Warnings& warnings) {
  const SampleView& x = samples.x;
  if (!is_laplace_on_line(options.kernel, x.dim())) {
    require_feasible(x.size() + samples.y.size(), x.dim(), options.allow_quadratic, "the MMD");
  }
  return resolve_on_test_pool(samples.x, samples.y, options, warnings);
}

// sum_i a_i^2 k(x_i, x_i) and sum_i a_i^2: what the unbiased estimate leaves out.
struct Diagonal {
  double kernel = 0.0;
  double weights = 0.0;
};

Diagonal diagonal_part(const Kernel& kernel, const SampleView& sample) {
  const std::vector<double> a = normalised_weights(sample);
  std::vector<double> values(sample.size());
  kernel.diagonal(sample.points, values);
  CompensatedSum with_kernel;
  CompensatedSum only;
  for (std::size_t i = 0; i < a.size(); ++i) {
    with_kernel.add(a[i] * a[i] * values[i]);
    only.add(a[i] * a[i]);
  }
  return {with_kernel.value(), only.value()};
}

}  // namespace

DistanceResult mmd_v(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  result.kernel = feasible_kernel(samples, options, result.warnings);
  result.mmd_squared = is_laplace_on_line(result.kernel, x.dim())
                           ? laplace_line_norms(*result.kernel.bandwidth, samples.x, samples.y).difference
                           : mmd_v_squared(Kernel(result.kernel), samples.x, samples.y, options.threads);
  result.statistic = std::sqrt(*result.mmd_squared);
  result.statistic_power = *result.mmd_squared;
  return result;
}

DistanceResult mmd(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x, y, options, result.warnings);
  result.kernel = feasible_kernel(samples, options, result.warnings);
  require_two_rows_of_weight(samples.x, "X");
  require_two_rows_of_weight(samples.y, "Y");
  const Kernel kernel(result.kernel);
  const Diagonal dx = diagonal_part(kernel, samples.x);
  const Diagonal dy = diagonal_part(kernel, samples.y);
  if (is_laplace_on_line(result.kernel, x.dim())) {
    result.statistic =
        unbiased_from(laplace_line_norms(*result.kernel.bandwidth, samples.x, samples.y), {dx.weights, dy.weights});
    result.statistic_power = result.statistic;
    return result;
  }
  const MeanProducts products = mean_products(kernel, samples.x, samples.y, options.threads);
  // sum_{i != j} a_i a_j k / (1 - sum a_i^2) within each sample.
  const double xx = (products.xx - dx.kernel) / (1.0 - dx.weights);
  const double yy = (products.yy - dy.kernel) / (1.0 - dy.weights);
  result.statistic = (xx - products.xy) + (yy - products.xy);
  result.statistic_power = result.statistic;
  return result;
}

}  // namespace kqd
