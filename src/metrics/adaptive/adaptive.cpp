#include "metrics/adaptive/adaptive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/random.hpp"
#include "core/warning.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/resolve.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/spectral_bundle.hpp"
#include "metrics/quantile/prepare_kqd.hpp"

namespace kqd {
namespace {

// What is looked at along the principal functions of a kernel: each statistic with its weight, 0 for none. Kinds of
// difference that few statistics can see get more for each (docs/design/0005-adaptive-test.md).
struct Looks {
  double quantiles = 0.0;
  double coarse = 0.0;
  double fine = 0.0;
  double finest = 0.0;
};
struct BandwidthLooks {
  double factor;  // of the rule's bandwidth
  Looks looks;
};
constexpr std::array<BandwidthLooks, 4> kBandwidths = {{
    {0.1, {.quantiles = 1.0}},
    {0.5, {.quantiles = 1.0, .coarse = 1.0, .fine = 1.0}},
    {1.0, {.quantiles = 2.0, .coarse = 1.0, .fine = 1.0, .finest = 2.0}},
    {2.0, {.quantiles = 1.0, .fine = 1.0}},
}};
constexpr Looks kClosestPoints = {.quantiles = 1.0, .coarse = 1.0};
constexpr Looks kOneKernel = {.quantiles = 2.0, .coarse = 1.0, .fine = 1.0, .finest = 2.0};
constexpr Looks kLinearCombinations = {.quantiles = 2.0, .fine = 2.0};
constexpr double kColumnsOnAverage = 2.0;
constexpr double kLargestColumn = 3.0;
constexpr double kOnlyColumn = 1.0;

// Principal functions that quantiles are taken along, and that means are compared along. Large pools tell with fewer,
// and there time counts.
struct Ranks {
  std::size_t quantiles;
  std::size_t means;
};
constexpr std::size_t kLargePool = 20'000;
constexpr Ranks ranks_for(std::size_t num_rows) {
  return num_rows > kLargePool ? Ranks{20, 40} : Ranks{30, 64};
}

constexpr double kColumnBudget = 2e7;  // pooled rows times columns that are looked at one by one
constexpr std::size_t kDefaultBytes = std::size_t{512} << 20U;

// What the plan of the effect size and the bundles of directions may each take.
struct Shares {
  std::size_t effect;
  std::size_t bundles;
};

Shares shares_of(std::size_t max_memory, std::size_t num_rows) {
  const std::size_t budget = max_memory > 0 ? max_memory : kDefaultBytes;
  const Shares shares{budget / 4, budget / 2};
  const std::size_t least =
      std::max(4 * 2 * KqdPlan::bytes_per_direction(num_rows), 2 * DirectionalBundle::bytes_per_direction(num_rows));
  if (max_memory > 0 && max_memory < least) {
    fail(ErrorCode::resource_limit,
         "the adaptive test of {} rows needs at least {} MB next to them, the limit on memory leaves it {} MB",
         num_rows, (least >> 20U) + 1, max_memory >> 20U);
  }
  return shares;
}

constexpr std::array<std::string_view, 3> kCombineWords = {"soft", "min-p", "rank"};
constexpr std::array<Aggregation, 3> kCombineRules = {Aggregation::soft_min_p, Aggregation::smooth_min_p,
                                                      Aggregation::min_p};
constexpr std::array<ParameterInfo, 2> kParameters = {{
    {"combine", 0, 0, 2, true,
     "how configurations become one: a soft minimum of smooth p-values, the smallest one, or the smallest p-value by "
     "rank",
     kCombineWords},
    {"landmarks", 0, 0, 4096, true, "pooled rows that span the principal functions; 0: min(128, N/4)"},
}};

// What all configurations of one test share.
struct Workshop {
  const TestPool& pool;
  const MethodOptions& options;
  std::vector<double> row_weights;
  std::size_t max_bytes;
  AggregatedPlan& plan;
  std::vector<SpectralView> views;
  std::vector<double> view_weights;  // of the statistics of `views`
};

std::string family_name(KernelSpec spec) {
  spec.bandwidth.reset();
  return to_string(spec);
}

// The columns to look at one by one: all, or a label-blind choice of what the budget allows.
std::vector<std::size_t> chosen_columns(const Pool& rows, Seed seed, Warnings& warnings) {
  const auto budget = static_cast<std::size_t>(kColumnBudget / static_cast<double>(rows.size()));
  const std::size_t most = std::max<std::size_t>(64, budget);
  if (rows.dim() <= most) {
    std::vector<std::size_t> all(rows.dim());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
    return all;
  }
  warn(warnings, WarningId::columns_sampled, most, rows.dim());
  RandomStream stream(seed, Purpose::linear_directions);
  auto some = sample_without_replacement(rows.dim(), most, stream);
  std::ranges::sort(some);
  return some;
}

void add_columns(Workshop& shop, Warnings& warnings) {
  const Pool rows = shop.pool.rows();
  const auto columns = chosen_columns(rows, shop.options.seed, warnings);
  const auto project = [rows, columns](std::size_t first, std::size_t count, ThreadCount) {
    Matrix<double> values(count, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = rows.row(i);
      for (std::size_t k = 0; k < count; ++k) values(k, i) = row[columns[first + k]];
    }
    return values;
  };
  const auto add = [&](Clock clock, const std::string& name, std::vector<GapSummary> summaries) {
    shop.plan.bundles.push_back(std::make_unique<DirectionalBundle>(
        name, std::move(summaries), columns.size(), rows.size(), project, shop.row_weights, clock, shop.max_bytes));
  };
  if (rows.dim() == 1) {
    add(Clock::values, "the column", {GapSummary::largest});
    add(Clock::tails, "the column, by ranks and tails", {GapSummary::largest});
    shop.plan.weights = {kOnlyColumn, kOnlyColumn};
  } else {
    add(Clock::values, "single columns", {GapSummary::largest});
    add(Clock::tails, "single columns, by ranks and tails", {GapSummary::average, GapSummary::largest});
    shop.plan.weights = {kLargestColumn, kColumnsOnAverage, kLargestColumn};
  }
}

// Means and quantiles along the principal functions of one kernel.
void add_kernel(Workshop& shop, const KernelSpec& spec, std::string_view what, const Looks& looks,
                std::size_t num_landmarks) {
  const Kernel kernel(spec);
  const Pool rows = shop.pool.rows();
  const Ranks ranks = ranks_for(rows.size());
  PrincipalBasis basis = principal_basis(kernel, rows, {.num_landmarks = num_landmarks, .max_rank = ranks.means},
                                         shop.options.seed, shop.options.threads);
  if (basis.variances.empty()) return;  // all points are equal to this kernel
  const std::size_t count = std::min(ranks.quantiles, basis.variances.size());
  Matrix<double> leading(basis.coefficients.rows(), count);
  for (std::size_t i = 0; i < leading.rows(); ++i) {
    std::ranges::copy(basis.coefficients.row(i).first(count), leading.row(i).begin());
  }
  const auto directions =
      std::make_shared<KernelDirections>(kernel, Matrix<double>(basis.landmarks.view()), std::move(leading), false);
  const auto project = [rows, directions](std::size_t first, std::size_t num, ThreadCount threads) {
    return project_pool(*directions, rows, first, num, threads);
  };
  shop.plan.bundles.push_back(
      std::make_unique<DirectionalBundle>(fmt::format("quantiles, {}", what), std::vector{GapSummary::average}, count,
                                          rows.size(), project, shop.row_weights, Clock::values, shop.max_bytes));
  shop.plan.weights.push_back(looks.quantiles);
  SpectralView view{fmt::format("means, {}", what), kernel, std::move(basis), {}};
  for (const auto& [look, weight] :
       {std::pair{Fineness::coarse, looks.coarse}, {Fineness::fine, looks.fine}, {Fineness::finest, looks.finest}}) {
    if (weight == 0.0) continue;
    view.looks.push_back(look);
    shop.view_weights.push_back(weight);
  }
  if (!view.looks.empty()) shop.views.push_back(std::move(view));
}

// Why the linear kernel cannot be used, whose sums over the pool of squared products of rows may leave the range of
// numbers; empty when it can.
std::optional<WarningId> linear_trouble(const Pool& rows) {
  double largest = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const double value : rows.row(i)) largest = std::max(largest, std::abs(value));
  }
  const double product = static_cast<double>(rows.dim()) * largest * largest;
  if (!std::isfinite(static_cast<double>(rows.size()) * product * product)) return WarningId::linear_overflow;
  if (largest > 0.0 && product * product < std::numeric_limits<double>::min()) return WarningId::linear_underflow;
  return std::nullopt;
}

// The bandwidths to try: multiples of the rule's, and one as small as the closest points when they are much closer.
std::vector<std::pair<double, Looks>> bandwidths(const KernelSpec& kernel, const Pool& rows, Seed seed) {
  const double middle = *kernel.bandwidth;
  const double smallest = smallest_bandwidth(kernel.family);
  const auto in_range = [&](double h) { return h >= smallest && h <= 1.0 / smallest; };
  std::vector<std::pair<double, Looks>> grid;
  for (const auto& [factor, looks] : kBandwidths) {
    if (!in_range(factor * middle)) {
      fail(ErrorCode::invalid_option,
           "bandwidth = {}, of which the adaptive test takes {} to {} times as well, needs a number in {:g} .. {:g}",
           middle, kBandwidths.front().factor, kBandwidths.back().factor, smallest / kBandwidths.front().factor,
           1.0 / smallest / kBandwidths.back().factor);
    }
    grid.emplace_back(factor * middle, looks);
  }
  std::vector<double> distances = pooled_distances(rows, DistanceKind::euclidean, seed);
  std::erase(distances, 0.0);
  if (!distances.empty()) {
    const double close = distances[distances.size() / 20] * std::sqrt(0.5);
    const auto far_from_close = [&](const auto& entry) {
      return close < 0.67 * entry.first || close > 1.5 * entry.first;
    };
    if (in_range(close) && std::ranges::all_of(grid, far_from_close)) grid.emplace_back(close, kClosestPoints);
  }
  return grid;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const ParameterValues parameters("adaptive", kParameters, options.parameters);
  // The effect size is that of e-KQD along Gaussian directions, which shares no rows with anything: no row leaves.
  MethodOptions plain = options;
  plain.directions = {};
  plain.power = 1.0;
  plain.weighting = {};
  const Shares shares = shares_of(options.max_memory, pool.order.size());
  plain.max_memory = shares.effect;
  PreparedPlan prepared = prepare_kqd(pool, plain, request, Over::mean, false);
  prepared.num_directions = 0;
  prepared.num_reference = 0;
  prepared.aggregate.rule = kCombineRules[parameters.count("combine")];
  if (options.max_memory > 0) prepared.aggregate.max_bytes = options.max_memory;
  Workshop shop{pool, options, pool.weights_of(pool.order), shares.bundles, prepared.aggregate, {}, {}};

  add_columns(shop, prepared.warnings);
  const std::size_t rows = pool.order.size();
  const std::size_t landmarks = parameters.count("landmarks") > 0
                                    ? parameters.count("landmarks")
                                    : default_num_landmarks(prepared.frozen.kernel, rows, pool.x.dim());
  if (const auto trouble = linear_trouble(pool.rows())) {
    warn(prepared.warnings, *trouble);
  } else if (pool.x.dim() > 1) {
    add_kernel(shop, parse_kernel("linear"), "linear combinations", kLinearCombinations, landmarks);
  }
  const KernelSpec& kernel = prepared.frozen.kernel;
  if (kernel.bandwidth && has_bandwidth(kernel.family)) {
    for (const auto& [h, looks] : bandwidths(kernel, pool.rows(), options.seed)) {
      KernelSpec spec = kernel;
      spec.bandwidth = h;
      add_kernel(shop, spec, fmt::format("{} of bandwidth {:.3g}", family_name(spec), h), looks, landmarks);
    }
  } else {
    add_kernel(shop, kernel, fmt::format("kernel {}", to_string(kernel)), kOneKernel, landmarks);
  }
  if (!shop.views.empty()) {
    prepared.aggregate.bundles.push_back(std::make_unique<SpectralBundle>(
        std::move(shop.views), pool.rows(), shop.row_weights, request.permutation_count, options.threads));
  }
  auto& weights = prepared.aggregate.weights;
  weights.insert(weights.end(), shop.view_weights.begin(), shop.view_weights.end());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  prepared.details = {{"configurations", static_cast<double>(weights.size())},
                      {"landmarks", static_cast<double>(landmarks)}};
  return prepared;
}

}  // namespace

MethodInfo adaptive_method() {
  return {.id = "adaptive",
          .family = "kernel quantiles",
          .summary = "many kinds of difference at once: columns, linear and kernel directions, means and quantiles",
          .reports = "log sum (w/p)^1.5 over configurations, p their smooth p-values and w their weights",
          .cost = "N m (d + m) + (l + d) N log N",
          .permutation = "(l + d + r) N",
          .calibrations = "permutation, sign-flip",
          .details =
              "Looks at the samples in many ways: quantiles of single columns (by values, and by ranks with weight on "
              "the tails), means and quantiles along linear principal components and along the principal functions of "
              "the kernel at bandwidths from a tenth of the median rule (or the closest points, if they are closer) to "
              "twice it. Everything is chosen from the unlabelled pool. Each statistic is turned into a smooth p-value "
              "by its own permutations, a soft minimum of them is taken (--set combine), and the same permutations "
              "calibrate it: one layer, exact. The table of configurations says which kind of difference was found; "
              "its adjusted p-values hold for all of them together. The effect "
              "size is that of ekqd.",
          .reference = "kqd: docs/design/0005-adaptive-test.md; min-p: Westfall and Young (1993)",
          .sign_flip = true,
          .uses = {.kernel = true, .columns = true},
          .parameters = kParameters,
          .effect_method = "ekqd",
          .prepare = prepare};
}

}  // namespace kqd
