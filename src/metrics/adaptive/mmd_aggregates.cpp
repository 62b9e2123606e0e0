#include "metrics/all_methods.hpp"

#include <array>
#include <cmath>
#include <memory>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kernel/column_scales.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/resolve.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/numerics.hpp"
#include "metrics/scaled_plan.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTask = 256;

constexpr ParameterInfo kBandwidths = {"bandwidths", 10, 1, 100, true, "bandwidths per kernel family"};
constexpr std::array<ParameterInfo, 1> kAggParameters = {kBandwidths};
constexpr std::array<ParameterInfo, 2> kFuseParameters = {{
    kBandwidths,
    {"lambda", 0, 0, 1e12, false, "sharpness of the soft maximum; 0: sqrt(n (n - 1)), n the smaller sample"},
}};

// One plan as a bundle of one statistic.
class PlanBundle : public StatisticBundle {
 public:
  PlanBundle(std::string name, std::unique_ptr<const Plan> plan) : name_(std::move(name)), plan_(std::move(plan)) {}

  [[nodiscard]] std::vector<std::string> names() const override { return {name_}; }
  void evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const override {
    plan_->evaluate(batches, values.row(0), threads);
  }
  [[nodiscard]] double tie_slack(std::size_t /*r*/, double value) const override { return plan_->tie_slack(value); }

 private:
  std::string name_;
  std::unique_ptr<const Plan> plan_;
};

// Kernels of both families on the grid of each, in the convention of the method.
struct Collection {
  std::vector<double> (*grid)(const std::vector<double>& sorted_distances, std::size_t count);
  double gaussian_factor;  // bandwidth of our Gaussian over that of the method
  double laplace_factor;
};
constexpr Collection kAggCollection = {geometric_bandwidth_grid, 0.70710678118654752, 1.0};
constexpr Collection kFuseCollection = {quantile_bandwidth_grid, 1.0, 0.70710678118654752};

// Of `given`, if that is the kernel of tables, whose distances are measured by column.
std::vector<KernelSpec> kernels(const Collection& collection, const KernelSpec& given, const Pool& pool,
                                std::size_t count, Seed seed, Warnings& warnings) {
  std::vector<KernelSpec> specs;
  const auto add_at = [&](KernelSpec spec, double bandwidth) {
    spec.bandwidth = bandwidth;
    specs.push_back(std::move(spec));
  };
  const auto add_grid = [&](const KernelSpec& spec, const std::vector<double>& distances, double factor) {
    require_finite(distances.back(), "a distance between pooled points");
    if (distances.back() == 0.0) return add_at(spec, 1.0);  // one kernel that sees that all points coincide
    const std::vector<double> grid = collection.grid(distances, count);
    if (grid.front() > distances.back()) {  // MMDAgg's rule has a floor, whatever the unit of the data
      warn(warnings, WarningId::wide_bandwidths, distances.back(),
           spec.family == KernelFamily::laplace ? "Laplace" : "Gaussian", factor * grid.front());
    }
    for (const double h : grid) {
      // Half of many equal points can make the lower end 0: a kernel of no width sees nothing.
      if (h > 0.0) add_at(spec, factor * h);
    }
  };
  if (has_column_scales(given.family)) {
    add_grid(given, pooled_distances(pool, given, seed), collection.gaussian_factor);
    return specs;
  }
  add_grid({.family = KernelFamily::laplace}, pooled_distances(pool, DistanceKind::l1, seed),
           collection.laplace_factor);
  add_grid({.family = KernelFamily::gaussian}, pooled_distances(pool, DistanceKind::euclidean, seed),
           collection.gaussian_factor);
  return specs;
}

// sum over i != j of k(z_i, z_j)^2: what MMD-FUSE normalises by.
double sum_of_squares(const Kernel& kernel, const Pool& pool, ThreadCount threads) {
  const std::size_t n = pool.size();
  std::vector<double> parts((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for_blocks(n, kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> own(end - begin, pool.dim());
    copy_rows(pool, begin, own);
    const KernelBlock block(kernel, own);
    Matrix<double> others(kRowsPerTask, pool.dim());
    Matrix<double> values(kRowsPerTask, end - begin);
    CompensatedSum total;
    for (std::size_t first = 0; first < n; first += kRowsPerTask) {
      const std::size_t count = std::min(kRowsPerTask, n - first);
      copy_rows(pool, first, others.view().row_range(0, count));
      block.evaluate(others.view().row_range(0, count), values.view().row_range(0, count));
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < end - begin; ++j) {
          if (first + i != begin + j) total.add(values(i, j) * values(i, j));
        }
      }
    }
    parts[begin / kRowsPerTask] = total.value();
  });
  return sum(parts);
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                     const Collection& collection, std::size_t num_bandwidths, double sharpness) {
  if (pool.weighted()) {
    fail(ErrorCode::invalid_weights, "aggregated MMD tests take no weights; use mmd or adaptive");
  }
  PreparedPlan prepared = prepare_mmd(pool, options, request, MmdEstimate::u);
  const bool fuse = sharpness > 0.0;
  prepared.aggregate.rule = fuse ? Aggregation::fuse : Aggregation::two_layer;
  const auto n = static_cast<double>(std::min(pool.x.size(), pool.y.size()));
  const std::vector<KernelSpec> specs =
      kernels(collection, prepared.frozen.kernel, pool.rows(), num_bandwidths, options.seed, prepared.warnings);
  const std::size_t permutation_count = (fuse ? 1 : 2) * request.permutation_count;  // two layers draw as many again
  const double seconds = seconds_of_labelled_gram(pool.order.size(), pool.x.dim(), permutation_count);
  require_feasible_seconds(static_cast<double>(specs.size()) * seconds, options.allow_quadratic,
                           fmt::format("the MMD of {} kernels and {} permutations", specs.size(), permutation_count));
  for (const KernelSpec& spec : specs) {
    const Kernel kernel(spec);
    double factor = 1.0;
    if (fuse) {
      const double squares = sum_of_squares(kernel, pool.rows(), options.threads) / (n * (n - 1.0));
      if (!(squares > 0.0)) continue;  // so narrow that no two points see one another
      factor = sharpness / std::sqrt(squares);
    }
    auto mmd = std::make_unique<MmdPlan>(kernel, pool, pool.order, MmdEstimate::u, options.threads);
    prepared.aggregate.bundles.push_back(
        std::make_unique<PlanBundle>(to_string(spec), std::make_unique<ScaledPlan>(std::move(mmd), factor)));
  }
  const std::size_t count = prepared.aggregate.bundles.size();
  if (count == 0) fail(ErrorCode::invalid_option, "no kernel of the collection sees any two points together");
  prepared.aggregate.weights.assign(count, 1.0 / static_cast<double>(count));
  prepared.details = {{"kernels", static_cast<double>(count)}};
  return prepared;
}

PreparedPlan prepare_agg(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const ParameterValues parameters("mmd-agg", kAggParameters, options.parameters);
  return prepare(pool, options, request, kAggCollection, parameters.count("bandwidths"), 0.0);
}

PreparedPlan prepare_fuse(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const ParameterValues parameters("mmd-fuse", kFuseParameters, options.parameters);
  const auto n = static_cast<double>(std::min(pool.x.size(), pool.y.size()));
  const double given = parameters.value("lambda");
  return prepare(pool, options, request, kFuseCollection, parameters.count("bandwidths"),
                 given > 0.0 ? given : std::sqrt(n * (n - 1.0)));
}

}  // namespace

Method mmd_agg_method() {
  return {
      .info = {.id = "mmd-agg",
               .family = "mean embeddings",
               .summary = "MMD over Gaussian and Laplace kernels of many bandwidths, by corrected quantiles",
               .reports = "the largest log(w/p) over kernels, p by rank among permutations of their own",
               .cost = "2 S N^2 d",
               .permutation = "2 S N^2",
               .calibrations = "permutation",
               .details =
                   "MMDAgg: the unbiased MMD of S bandwidths for each of two kernel families. Half of the "
                   "permutations give each statistic its p-value, the other half the distribution of the smallest "
                   "one. The bandwidths, from half the smallest to twice the largest distance, come from the pool "
                   "and not from X against Y, so the test is exact. As published, these distances count as at least "
                   "0.1 and 0.3: columns of a small unit should be rescaled. With kernel mixed, all kernels are mixed "
                   "ones.",
               .reference = "Schrab et al.: MMD Aggregated Two-Sample Test (JMLR 2023)",
               .parameters = kAggParameters,
               .effect_method = "mmd"},
      .prepare = prepare_agg};
}

Method mmd_fuse_method() {
  return {.info = {.id = "mmd-fuse",
                   .family = "mean embeddings",
                   .summary = "MMD over Gaussian and Laplace kernels of many bandwidths, by a soft maximum",
                   .reports =
                       "log sum_r w_r exp(lambda MMD_r^2 / sqrt(N_r)), N_r the mean square of kernel r over the pool",
                   .cost = "2 S N^2 d",
                   .permutation = "2 S N^2",
                   .calibrations = "permutation",
                   .details =
                       "MMD-FUSE: a soft maximum of unbiased MMDs, each divided by the size of its kernel on the pool. "
                       "Bandwidths run from half the 5th to twice the 95th percentile of the pooled distances. With "
                       "kernel mixed, all kernels are mixed ones.",
                   .reference = "Biggs, Schrab, Gretton: MMD-FUSE (NeurIPS 2023)",
                   .parameters = kFuseParameters,
                   .effect_method = "mmd"},
          .prepare = prepare_fuse};
}

}  // namespace kqd
