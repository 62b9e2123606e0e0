#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "directions/reference.hpp"
#include "kernel/resolve.hpp"
#include "metrics/checked_samples.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/mean/mmd_plan.hpp"
#include "metrics/numerics.hpp"
#include "metrics/scaled_plan.hpp"
#include "metrics/transport/energy_plan.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

enum class Form { automatic, full, sliced };

constexpr std::array<std::string_view, 3> kForms = {"auto", "full", "sliced"};
constexpr std::array<ParameterInfo, 3> kParameters = {{
    {"beta", 1, 0, 2, false, "power of the distances, between 0 and 2, both excluded"},
    {"form", 0, 0, 2, true, "full: all pairs; sliced: along random lines; auto: sorting on the line, else full",
     kForms},
    {"slices", 100, 1, 1e6, true, "random lines of the sliced form"},
}};

constexpr std::size_t kSlicesAtATime = 8;

struct Settings {
  double beta;
  bool by_lines;  // sorted along lines instead of all pairs
  std::size_t slices;
};

Settings settings_for(const MethodOptions& options, std::size_t dim) {
  const ParameterValues values("energy", kParameters, options.parameters);
  const double beta = values.value("beta");
  const auto form = values.choice<Form>("form");
  if (!(beta > 0.0 && beta < 2.0)) {
    fail(ErrorCode::invalid_option, "energy beta = {}, needs > 0 and < 2{}", beta,
         beta >= 2.0 ? ": at 2 only the means would be compared" : "");
  }
  if (form == Form::sliced && beta != 1.0) {
    fail(ErrorCode::invalid_option, "energy beta = {} with form sliced, needs beta = 1; use form full", beta);
  }
  const bool by_lines = form == Form::sliced || (form == Form::automatic && dim == 1 && beta == 1.0);
  return {beta, by_lines, dim == 1 ? 1 : values.count("slices")};
}

// Returns the axis in one dimension, else directions that are uniform on the sphere and depend on the seed only.
std::shared_ptr<const Directions> lines(const Settings& settings, const Pool& pool, Seed seed) {
  DirectionOptions options;
  options.family = pool.dim() == 1 ? DirectionFamily::axis : DirectionFamily::linear;
  options.num_directions = settings.slices;
  return draw_directions(Kernel(parse_kernel("linear")), pool, options, seed).directions;
}

KernelSpec distance_kernel(const Settings& settings, const Pool& pool, const MethodOptions& options,
                           Warnings& warnings) {
  KernelSpec spec = parse_kernel("energy");
  spec.beta = settings.beta;
  return resolve(spec, pool, options.bandwidth_rule, options.seed, warnings);
}

// The energy along each line: both samples projected, sorted together, and their distribution functions compared.
std::vector<double> energies_along(const Directions& directions, const SampleView& x, const SampleView& y,
                                   ThreadCount threads) {
  const std::vector<double> origin = pooled_mean({x.points, y.points});
  const std::size_t nx = x.size();
  const std::size_t n = nx + y.size();
  const auto weight = [&](std::size_t row) {
    if (row < nx) return x.weighted() ? x.weights[row] : 1.0;
    return y.weighted() ? y.weights[row - nx] : 1.0;
  };
  std::vector<double> energies(directions.count());
  for (std::size_t first = 0; first < directions.count(); first += kSlicesAtATime) {
    const std::size_t count = std::min(kSlicesAtATime, directions.count() - first);
    Matrix<double> values(count, n);
    directions.evaluate_from(origin, x.points, first, values.view().column_range(0, nx), threads);
    directions.evaluate_from(origin, y.points, first, values.view().column_range(nx, n - nx), threads);
    parallel_for_blocks(count, 1, threads, [&](std::size_t i, std::size_t) {
      std::vector<std::uint32_t> order(n);
      argsort(values.row(i), order);
      std::vector<double> sorted(n);
      for (std::size_t k = 0; k < n; ++k) sorted[k] = values(i, order[k]);
      energies[first + i] = energy_on_the_line(
          sorted, [&](std::size_t k) { return order[k] < nx; }, [&](std::size_t k) { return weight(order[k]); });
    });
  }
  return energies;
}

DistanceResult energy(const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  DistanceResult result;
  const CheckedSamples samples(x_given, y_given, options, result.warnings);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const Settings settings = settings_for(options, x_given.dim());
  const Pool pool{x.points, y.points};
  if (settings.by_lines) {
    std::vector<double> energies = energies_along(*lines(settings, pool, options.seed), x, y, options.threads);
    for (double& e : energies) e /= mean_absolute_coordinate(x.dim());
    result.statistic = sum(energies) / static_cast<double>(energies.size());
    if (energies.size() > 1) result.standard_error = standard_error(energies, result.statistic);
    if (x.dim() > 1) result.details = {{"slices", static_cast<double>(settings.slices)}};
  } else {
    require_feasible(pool.size(), x.dim(), options.allow_quadratic, "the energy distance over all pairs");
    const Kernel kernel(distance_kernel(settings, pool, options, result.warnings));
    result.statistic = 2.0 * mmd_v_squared(kernel, x, y, options.threads);
  }
  require_finite(result.statistic, "the energy distance");
  result.statistic_power = result.statistic;
  return result;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const Settings settings = settings_for(options, pool.x.dim());
  PreparedPlan prepared;
  prepared.squares = true;
  prepared.rows = pool.order;
  prepared.frozen = options;
  if (settings.by_lines) {
    auto plan = std::make_unique<EnergyPlan>(*lines(settings, pool.rows(), options.seed), pool, options.threads);
    prepared.pooled_scale = plan->pooled_scale();
    if (pool.x.dim() > 1) prepared.details = {{"slices", static_cast<double>(settings.slices)}};
    prepared.plan = std::move(plan);
    return prepared;
  }
  require_feasible_test(pool.order.size(), pool.x.dim(), request.permutation_count, options.allow_quadratic,
                        "the energy distance over all pairs");
  const Kernel kernel(distance_kernel(settings, pool.rows(), options, prepared.warnings));
  auto mmd = std::make_unique<MmdPlan>(kernel, pool, pool.order, MmdEstimate::v_squared, options.threads);
  prepared.pooled_scale = 2.0 * mmd->pooled_variance();
  prepared.plan = std::make_unique<ScaledPlan>(std::move(mmd), 2.0);
  return prepared;
}

}  // namespace

Method energy_method() {
  return {
      .info = {.id = "energy",
               .family = "transport",
               .summary = "energy distance: mean distances between and within the samples",
               .reports = "2 E|X-Y|^beta - E|X-X'|^beta - E|Y-Y'|^beta, V-type, >= 0; not its root",
               .cost = "N^2 d; N log N on the line; l N (d + log N) sliced",
               .permutation = "N^2; N on the line; l N sliced",
               .calibrations = "permutation, sign-flip",
               .details =
                   "Twice the squared MMD_V of the distance kernel. On the line with beta = 1 it is 2 integral (F - "
                   "G)^2, by sorting. Sliced (beta = 1) takes the mean over uniform random lines, divided by "
                   "E|u_1|: right on average, near-linear in N. The statistic of Szekely and Rizzo is nx ny / N "
                   "times the number reported.",
               .reference = "Szekely, Rizzo (2004, 2013); Sejdinovic et al. (Annals of Statistics 2013)",
               .sign_flip = true,
               .parameters = kParameters},
      .distance = energy,
      .prepare = prepare};
}

}  // namespace kqd
