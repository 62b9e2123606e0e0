#include "metrics/all_methods.hpp"

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
#include "metrics/quantile/kqd.hpp"

namespace kqd {
namespace {

// Statistics along the principal functions of a kernel, each with its weight, 0 for none. Kinds of difference that few
// statistics detect have larger weights (docs/design/0005-adaptive-test.md).
struct StatisticWeights {
  double quantiles = 0.0;
  double coarse = 0.0;
  double fine = 0.0;
  double finest = 0.0;
};
struct GridBandwidth {
  double factor;  // of the rule's bandwidth
  StatisticWeights weights;
};
constexpr std::array<GridBandwidth, 4> kGrid = {{
    {0.1, {.quantiles = 1.0}},
    {0.5, {.quantiles = 1.0, .coarse = 1.0, .fine = 1.0}},
    {1.0, {.quantiles = 2.0, .coarse = 1.0, .fine = 1.0, .finest = 2.0}},
    {2.0, {.quantiles = 1.0, .fine = 1.0}},
}};
constexpr StatisticWeights kClosestPoints = {.quantiles = 1.0, .coarse = 1.0};
constexpr StatisticWeights kOneKernel = {.quantiles = 2.0, .coarse = 1.0, .fine = 1.0, .finest = 2.0};
constexpr StatisticWeights kLinearCombinations = {.quantiles = 2.0, .fine = 2.0};
constexpr double kColumnsOnAverage = 2.0;
constexpr double kLargestColumn = 3.0;
constexpr double kOnlyColumn = 1.0;

// The bandwidth of the closest points: their distance is a low quantile of all distances, and a Gaussian of bandwidth
// distance / sqrt(2) falls to 1/e there. It joins the grid unless a bandwidth within these factors is there already.
constexpr std::size_t kCloseQuantile = 20;  // one in so many distances is smaller
constexpr double kAlreadyBelow = 0.67;
constexpr double kAlreadyAbove = 1.5;

// Numbers of principal functions along which quantiles and means are compared. Large pools need fewer, and take longer.
struct Ranks {
  std::size_t quantiles;
  std::size_t means;
};
constexpr std::size_t kLargePool = 20'000;
constexpr Ranks ranks_for(std::size_t num_rows) {
  return num_rows > kLargePool ? Ranks{20, 40} : Ranks{30, 64};
}

constexpr double kColumnBudget = 2e7;       // pooled rows times columns that are tested one by one
constexpr std::size_t kFewestColumns = 64;  // tested one by one whatever the number of rows
constexpr std::size_t kDefaultBytes = std::size_t{512} << 20U;

// How the memory bound is shared: the plan of the effect size and sorted projections kept for all permutations get a
// quarter each, directions that are being sorted the other half.
struct MemoryShares {
  std::size_t effect;
  BundleMemory bundles;
};

MemoryShares memory_shares(std::size_t max_memory, std::size_t num_rows) {
  constexpr std::size_t kQuarter = 4;
  const std::size_t budget = max_memory > 0 ? max_memory : kDefaultBytes;
  const MemoryShares shares{.effect = budget / kQuarter, .bundles = {.kept = budget / kQuarter, .at_work = budget / 2}};
  // A streamed plan keeps one direction and works on another; so does a bundle with one.
  const std::size_t least = std::max(kQuarter * 2 * KqdPlan::bytes_per_direction(num_rows),
                                     2 * DirectionalBundle::bytes_per_direction(num_rows));
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

// The aggregate under construction, with what its statistics share.
struct AggregateBuilder {
  const TestPool& pool;
  const MethodOptions& options;
  std::vector<double> row_weights;
  BundleMemory memory;
  AggregatedPlan& plan;
  std::shared_ptr<GroupedSummary> summary = {};  // of grouped rows; null: rows are permuted
  std::vector<SpectralView> views = {};
  std::vector<double> view_weights = {};  // of the statistics of `views`

  void add_directions(BundleDirections directions, std::vector<GapSummary> summaries, GapWeight gap_weight) {
    if (summary != nullptr) {
      plan.bundles.push_back(std::make_unique<DirectionalBundle>(std::move(directions), std::move(summaries),
                                                                 gap_weight, *summary, options.threads));
      return;
    }
    auto bundle = std::make_unique<DirectionalBundle>(std::move(directions), std::move(summaries), gap_weight,
                                                      pool.rows(), row_weights, memory, options.threads);
    memory.kept -= bundle->kept_bytes();
    plan.bundles.push_back(std::move(bundle));
  }

  // The rows that functions are fitted to.
  [[nodiscard]] Pool fitted_rows() const { return summary != nullptr ? summary->rows().pilot() : pool.rows(); }
};

std::string family_name(KernelSpec spec) {
  spec.bandwidth.reset();
  return to_string(spec);
}

// The columns to test one by one: all, or a label-blind choice of as many as the budget allows.
std::vector<std::size_t> chosen_columns(const Pool& rows, Seed seed, Warnings& warnings) {
  const auto budget = static_cast<std::size_t>(kColumnBudget / static_cast<double>(rows.size()));
  const std::size_t most = std::max(kFewestColumns, budget);
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

void add_columns(AggregateBuilder& builder, Warnings& warnings) {
  const Pool rows = builder.pool.rows();
  const auto columns = chosen_columns(rows, builder.options.seed, warnings);
  const auto set = std::make_shared<const FunctionSet>(FunctionSet{.columns = columns});
  const RowFunctions functions = make_functions(*set);
  const auto add = [&](GapWeight gap_weight, const std::string& name, std::vector<GapSummary> summaries) {
    builder.add_directions({name, columns.size(), functions, set}, std::move(summaries), gap_weight);
  };
  if (rows.dim() == 1) {
    add(GapWeight::size, "the column", {GapSummary::largest});
    add(GapWeight::anderson_darling, "the column, by ranks and tails", {GapSummary::largest});
    builder.plan.weights = {kOnlyColumn, kOnlyColumn};
  } else {
    add(GapWeight::size, "single columns", {GapSummary::largest});
    add(GapWeight::anderson_darling, "single columns, by ranks and tails", {GapSummary::average, GapSummary::largest});
    builder.plan.weights = {kLargestColumn, kColumnsOnAverage, kLargestColumn};
  }
}

// Means and quantiles along the principal functions of one kernel.
void add_kernel(AggregateBuilder& builder, const KernelSpec& spec, std::string_view what,
                const StatisticWeights& weights, std::size_t num_landmarks) {
  const Kernel kernel(spec);
  const Ranks ranks = ranks_for(builder.pool.order.size());
  PrincipalBasis basis =
      principal_basis(kernel, builder.fitted_rows(), {.num_landmarks = num_landmarks, .max_rank = ranks.means},
                      builder.options.seed, builder.options.threads);
  if (basis.variances.empty()) return;  // all points are equal to this kernel
  const std::size_t count = std::min(ranks.quantiles, basis.variances.size());
  const auto set = std::make_shared<const FunctionSet>(principal_functions(kernel, basis));
  const RowFunctions functions = make_functions(*set);
  builder.add_directions({fmt::format("quantiles, {}", what), count, functions, set}, {GapSummary::average},
                         GapWeight::size);
  builder.plan.weights.push_back(weights.quantiles);
  SpectralView view{fmt::format("means, {}", what), kernel, std::move(basis), {}, functions};
  for (const auto& [fineness, weight] : {std::pair{Fineness::coarse, weights.coarse},
                                         {Fineness::fine, weights.fine},
                                         {Fineness::finest, weights.finest}}) {
    if (weight == 0.0) continue;
    view.statistics.push_back(fineness);
    builder.view_weights.push_back(weight);
  }
  if (!view.statistics.empty()) builder.views.push_back(std::move(view));
}

// The reason why the linear kernel cannot be used, whose sums of squared products of rows may leave the range of
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
std::vector<std::pair<double, StatisticWeights>> bandwidths(const KernelSpec& kernel, const Pool& rows, Seed seed) {
  const double middle = *kernel.bandwidth;
  const double smallest = smallest_bandwidth(kernel.family);
  const auto in_range = [&](double h) { return h >= smallest && h <= 1.0 / smallest; };
  std::vector<std::pair<double, StatisticWeights>> grid;
  for (const auto& [factor, weights] : kGrid) {
    if (!in_range(factor * middle)) {
      fail_option("bandwidth", middle,
                  fmt::format("a number in {:g} .. {:g}, because the adaptive test takes {} to {} times it as well",
                              smallest / kGrid.front().factor, 1.0 / smallest / kGrid.back().factor,
                              kGrid.front().factor, kGrid.back().factor));
    }
    grid.emplace_back(factor * middle, weights);
  }
  std::vector<double> distances = pooled_distances(rows, DistanceKind::euclidean, seed);
  std::erase(distances, 0.0);
  if (distances.empty()) return grid;
  const double close = distances[distances.size() / kCloseQuantile] * std::sqrt(0.5);
  const auto is_another = [&](const auto& entry) {
    return close < kAlreadyBelow * entry.first || close > kAlreadyAbove * entry.first;
  };
  if (in_range(close) && std::ranges::all_of(grid, is_another)) grid.emplace_back(close, kClosestPoints);
  return grid;
}

void add_kernels(AggregateBuilder& builder, const KernelSpec& kernel, std::size_t landmarks, Warnings& warnings) {
  const Pool rows = builder.pool.rows();
  if (const auto trouble = linear_trouble(rows)) {
    warn(warnings, *trouble);
  } else if (rows.dim() > 1) {
    add_kernel(builder, parse_kernel("linear"), "linear combinations", kLinearCombinations, landmarks);
  }
  if (!kernel.bandwidth || !has_bandwidth(kernel.family)) {
    add_kernel(builder, kernel, fmt::format("kernel {}", to_string(kernel)), kOneKernel, landmarks);
    return;
  }
  for (const auto& [h, weights] : bandwidths(kernel, rows, builder.options.seed)) {
    KernelSpec spec = kernel;
    spec.bandwidth = h;
    add_kernel(builder, spec, fmt::format("{} of bandwidth {:.3g}", family_name(spec), h), weights, landmarks);
  }
}

// e-KQD along Gaussian directions, which gives the effect size: its reference points are not rows, so none is held out.
MethodOptions options_of_effect(const MethodOptions& options, std::size_t max_memory) {
  MethodOptions plain = options;
  plain.directions = {};
  plain.power = 1.0;
  plain.weighting = {};
  plain.max_memory = max_memory;
  return plain;
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  const ParameterValues parameters("adaptive", kParameters, options.parameters);
  const std::size_t num_rows = pool.order.size();
  const MemoryShares shares = memory_shares(options.max_memory, request.groups ? 0 : num_rows);
  PreparedPlan prepared = prepare_kqd(pool, options_of_effect(options, shares.effect), request, Over::mean, false);
  prepared.num_directions = 0;
  prepared.num_reference = 0;
  prepared.aggregate.rule = kCombineRules[parameters.count("combine")];
  if (options.max_memory > 0) prepared.aggregate.max_bytes = options.max_memory;

  AggregateBuilder builder{pool, options, pool.weights_of(pool.order), shares.bundles, prepared.aggregate};
  if (prepared.grouped != nullptr) builder.summary = std::make_shared<GroupedSummary>(prepared.grouped);
  const std::size_t landmarks = parameters.count("landmarks") > 0
                                    ? parameters.count("landmarks")
                                    : default_num_landmarks(prepared.frozen.kernel, num_rows, pool.x.dim());
  add_columns(builder, prepared.warnings);
  add_kernels(builder, prepared.frozen.kernel, landmarks, prepared.warnings);
  if (!builder.views.empty()) {
    prepared.aggregate.bundles.push_back(
        builder.summary != nullptr
            ? std::make_unique<SpectralBundle>(std::move(builder.views), *builder.summary, request.permutation_count,
                                               options.threads)
            : std::make_unique<SpectralBundle>(std::move(builder.views), pool.rows(), builder.row_weights,
                                               request.permutation_count, options.threads));
  }
  if (builder.summary != nullptr) builder.summary->collect(options.threads);
  auto& weights = prepared.aggregate.weights;
  weights.insert(weights.end(), builder.view_weights.begin(), builder.view_weights.end());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  prepared.details = {{"configurations", static_cast<double>(weights.size())},
                      {"landmarks", static_cast<double>(landmarks)}};
  return prepared;
}

}  // namespace

Method adaptive_method() {
  return {
      .info = {.id = "adaptive",
               .family = "kernel quantiles",
               .summary =
                   "many kinds of difference at once: columns, linear and kernel directions, means and quantiles",
               .reports = "log sum (w/p)^1.5 over configurations, p their smooth p-values and w their weights",
               .cost = "N m (d + m) + (l + d) N log N",
               .permutation = "(l + d + r) N",
               .calibrations = "permutation, sign-flip",
               .details =
                   "Looks at the samples in many ways: quantiles of single columns (by values, and by ranks with "
                   "weight on the tails), means and quantiles along linear principal components and along the "
                   "principal functions of the kernel at bandwidths from a tenth of the median rule (or the closest "
                   "points, if they are closer) to twice it. Everything is chosen from the unlabelled pool. Each "
                   "statistic is turned into a smooth p-value by its own permutations, a soft minimum of them is "
                   "taken (parameter combine), and the same permutations calibrate it: one layer, exact. The table "
                   "of configurations says which kind of difference was found; its adjusted p-values hold for all "
                   "of them together. The effect size is that of ekqd.",
               .reference = "kqd: docs/design/0005-adaptive-test.md; min-p: Westfall and Young (1993)",
               .sign_flip = true,
               .groups = true,
               .uses = {.kernel = true, .columns = true, .max_memory = true},
               .parameters = kParameters,
               .effect_method = "ekqd"},
      .prepare = prepare};
}

}  // namespace kqd
