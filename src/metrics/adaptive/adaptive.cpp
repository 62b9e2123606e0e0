#include "metrics/all_methods.hpp"

#include <fmt/format.h>

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
#include "kqd/kernel/objects.hpp"
#include "metrics/adaptive/column_shapes.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/adaptive/relations.hpp"
#include "metrics/adaptive/second_order.hpp"
#include "metrics/adaptive/table_parts.hpp"
#include "metrics/quantile/kqd.hpp"
#include "profile/column_scales.hpp"

namespace kqd {
namespace {

// Statistics along the principal functions of a kernel, each with its weight, 0 for none. Kinds of difference that few
// statistics detect have larger weights (docs/design/0005-adaptive-test.md).
struct StatisticWeights {
  double quantiles = 0.0;
  double coarse = 0.0;
  double fine = 0.0;
  double finest = 0.0;

  [[nodiscard]] bool any() const { return quantiles + coarse + fine + finest > 0.0; }
};
struct GridBandwidth {
  double factor;  // of the rule's bandwidth
  StatisticWeights weights;
};
constexpr std::array<GridBandwidth, 5> kGrid = {{
    {0.1, {.quantiles = 1.0}},
    {0.25, {.fine = 2.0, .finest = 2.0}},
    {0.5, {.quantiles = 2.0, .fine = 5.0}},
    {1.0, {.quantiles = 3.0, .coarse = 2.0, .finest = 3.0}},
    {2.0, {.quantiles = 2.0}},
}};
// In one column few kinds of difference exist, and statistics that see the same one would share the level.
constexpr std::array<GridBandwidth, kGrid.size()> kGridOfOneColumn = {{
    {0.1, {.quantiles = 0.7}},
    {0.25, {.fine = 5.0}},
    {0.5, {.fine = 5.0}},
    {1.0, {.coarse = 0.5}},
    {2.0, {}},
}};
constexpr StatisticWeights kClosestPoints = {.coarse = 2.0};
constexpr StatisticWeights kOneKernel = {.quantiles = 2.0, .coarse = 2.0, .fine = 2.0, .finest = 3.0};
constexpr StatisticWeights kLinearCombinations = {.fine = 3.0};
constexpr double kColumnsOnAverage = 3.0;
constexpr double kLargestColumn = 2.5;
constexpr double kOnlyColumn = 1.0;
// Two columns have no statistic of their spreads, one has few kinds of difference.
constexpr double shapes_weight(std::size_t dim) {
  return dim == 1 ? 1.0 : (dim == 2 ? 3.0 : 2.0);
}
// In few columns single directions show changes of spread and dependence as well: the weights of their own statistics
// grow with the number of columns.
constexpr double kSpread = 7.0;  // at most, and 1 per column
constexpr double kSpreadOfOnlyColumn = 2.0;
constexpr double kLargestProduct = 2.0;
constexpr double kProductsOnAverage = 1.5;
constexpr double kColumnsForProducts = 5.0;  // fewer columns have less weight
constexpr double kLargestSquare = 1.0;       // from three columns on
constexpr double kLargestTriple = 1.0;
constexpr double kShares = 5.0;  // of levels and missing values
constexpr double kNumbersAndCategories = 6.0;
constexpr double kCategories = 4.0;

// A bandwidth is used if the nearest pairs of rows, a low quantile of all distances, are near each other on its scale:
// otherwise every row is on its own. In many columns all distances are alike, and small bandwidths see nothing.
constexpr std::size_t kNearQuantile = 50;  // one in so many distances is smaller
constexpr double kLeastBandwidth = 0.85;   // of that distance: a Gaussian falls to one half there

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

constexpr std::size_t kEffectDirections = 64;

// Distances to the centre by ridge leverage: directions in which the rows vary little count more, less so, alike.
constexpr std::array<double, 3> kRidges = {0.1, 1.0, std::numeric_limits<double>::infinity()};
// Polynomials of the ranks of a column; none where there are too many columns for three each.
constexpr std::size_t kLargestDegree = 8;
constexpr std::size_t kLeastDegree = 3;
constexpr double kShapeBudget = 8e5;  // pooled rows times functions
constexpr double kFewestShapes = 128.0;
constexpr double kMostShapes = 1024.0;

constexpr std::size_t kMostShares = 1024;  // of levels
constexpr std::size_t kFewestLevels = 4;   // of each category whatever their number

constexpr std::size_t kMostComponents = 256;
constexpr std::size_t kMultipliedComponents = 10;
constexpr double kPairBudget = 8e5;  // pooled rows times pairs of columns that are multiplied
constexpr std::size_t kFewestPairs = 128;
constexpr std::size_t kMostPairs = 1000;
constexpr std::size_t kLeastColumnsForTriples = 3;
constexpr std::size_t kMostTriples = 300;
constexpr std::size_t kShareOfSquares = 4;  // one in so many products may be a square of a column

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
    {"landmarks", 0, 0, 4096, true, "pooled rows that span the principal functions; 0: all up to 256, 128 of more"},
}};

// The aggregate under construction, with what its statistics share.
struct AggregateBuilder {
  Pool rows;             // that functions are fitted to: all rows, or pilot rows
  std::size_t num_rows;  // that are compared
  const MethodOptions& options;
  std::vector<double> row_weights;
  BundleMemory memory;
  AggregatedPlan& plan;
  TableParts parts = {};                         // of `rows`
  std::vector<std::string> names = {};           // of the columns of `rows`
  std::vector<ColumnScale> scales = {};          // of functions of rows that are not scaled yet
  std::shared_ptr<GroupedSummary> summary = {};  // of grouped rows; null: rows are permuted
  std::vector<MeanFeatures> means = {};
  std::vector<double> mean_weights = {};  // of the statistics of `means`

  template <class Functions>
  [[nodiscard]] SharedFunctions share(Functions functions) const {
    return SharedFunctions(FunctionSet{scales, std::move(functions)});
  }

  void add_directions(BundleDirections directions, std::vector<GapSummary> summaries, GapWeight gap_weight) {
    if (summary != nullptr) {
      plan.bundles.push_back(std::make_unique<DirectionalBundle>(std::move(directions), std::move(summaries),
                                                                 gap_weight, *summary, options.threads));
      return;
    }
    auto bundle = std::make_unique<DirectionalBundle>(std::move(directions), std::move(summaries), gap_weight, rows,
                                                      row_weights, memory, options.threads);
    memory.kept -= bundle->kept_bytes();
    plan.bundles.push_back(std::move(bundle));
  }

  void add_means(std::vector<MeanFeatures> features, std::size_t permutation_count) {
    plan.bundles.push_back(
        summary != nullptr
            ? std::make_unique<MeanBundle>(std::move(features), *summary, permutation_count, options.threads)
            : std::make_unique<MeanBundle>(std::move(features), rows, row_weights, permutation_count, options.threads));
  }
};

std::string family_name(KernelSpec spec) {
  spec.bandwidth.reset();
  return to_string(spec);
}

// The numbers to test one by one: all, or a label-blind choice of as many as the budget allows.
std::vector<std::size_t> chosen_columns(const AggregateBuilder& builder, Warnings& warnings) {
  std::vector<std::size_t> numbers = builder.parts.columns_of(ColumnKind::number);
  const auto budget = static_cast<std::size_t>(kColumnBudget / static_cast<double>(builder.num_rows));
  const std::size_t most = std::max(kFewestColumns, budget);
  if (numbers.size() <= most) return numbers;
  warn(warnings, WarningId::columns_sampled, most, numbers.size());
  RandomStream stream(builder.options.seed, Purpose::linear_directions);
  auto some = sample_without_replacement(numbers.size(), most, stream);
  std::ranges::sort(some);
  for (std::size_t& k : some) k = numbers[k];
  return some;
}

std::vector<std::string> labels_of(const std::vector<std::size_t>& columns, const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  for (const std::size_t column : columns) labels.push_back(names[column]);
  return labels;
}

// Of pairs of two columns, or of squares of one.
std::vector<std::string> labels_of(const PairProducts& products, const std::vector<std::string>& names) {
  std::vector<std::string> labels;
  for (const auto& [a, b] : products.pairs) {
    labels.push_back(a == b ? names[a] : fmt::format("{} and {}", names[a], names[b]));
  }
  return labels;
}

// Shares of the most frequent levels of every category, and of missing values.
void add_shares(AggregateBuilder& builder) {
  const std::vector<TablePart>& parts = builder.parts.parts;
  const auto of_number = [](const TablePart& part) { return part.kind == ColumnKind::number; };
  const std::size_t num_categories = parts.size() - static_cast<std::size_t>(std::ranges::count_if(parts, of_number));
  if (num_categories == 0) return;
  const std::size_t most = std::max(kFewestLevels, kMostShares / num_categories);
  const std::vector<LevelColumn> levels = level_columns(builder.rows, builder.parts);
  std::vector<std::size_t> columns;
  std::vector<FunctionGroup> groups;
  std::vector<std::string> labels;
  for (const TablePart& part : parts) {
    if (of_number(part)) continue;
    const TablePart own = most_frequent(part, most, levels);
    columns.insert(columns.end(), own.columns.begin(), own.columns.end());
    labels.push_back(part_label(part, builder.names));
    const auto size = static_cast<double>(own.columns.size());
    groups.push_back({own.columns.size(), std::max(1.0, own.columns.size() < part.columns.size() ? size : size - 1.0)});
  }
  builder.means.push_back({.name = "shares of levels and missing values",
                           .count = columns.size(),
                           .functions = builder.share(ColumnValues{columns}),
                           .statistics = {MeanSummary::group},
                           .groups = std::move(groups),
                           .labels = std::move(labels)});
  builder.mean_weights.push_back(kShares);
}

void add_columns(AggregateBuilder& builder, Warnings& warnings) {
  const Pool rows = builder.rows;
  add_shares(builder);
  const auto columns = chosen_columns(builder, warnings);
  if (columns.empty()) return;
  const SharedFunctions values = builder.share(ColumnValues{columns, builder.parts.marks});
  const auto add = [&](GapWeight gap_weight, const std::string& name, std::vector<GapSummary> summaries) {
    builder.add_directions({name, columns.size(), values}, std::move(summaries), gap_weight);
  };
  if (rows.dim() == 1) {
    add(GapWeight::anderson_darling, "the column, by ranks and tails", {GapSummary::largest});
    builder.plan.weights = {kOnlyColumn};
  } else {
    add(GapWeight::size, "single columns", {GapSummary::largest});
    add(GapWeight::anderson_darling, "single columns, by ranks and tails", {GapSummary::average, GapSummary::largest});
    builder.plan.weights = {kLargestColumn, kColumnsOnAverage, kLargestColumn};
  }
  const auto most_functions = static_cast<std::size_t>(
      std::clamp(kShapeBudget / static_cast<double>(builder.num_rows), kFewestShapes, kMostShapes));
  const std::size_t degree = std::min(kLargestDegree, most_functions / columns.size());
  if (degree < kLeastDegree) return;
  builder.means.push_back(
      {.name = "shapes of single columns",
       .count = degree * columns.size(),
       .functions = builder.share(column_shapes(rows, columns, builder.parts.marks, degree, builder.options.threads)),
       .statistics = {MeanSummary::largest},
       .group_size = degree,
       .labels = labels_of(columns, builder.names)});
  builder.mean_weights.push_back(shapes_weight(rows.dim()));
}

// Means and quantiles along the principal functions of one kernel.
void add_kernel(AggregateBuilder& builder, const KernelSpec& spec, std::string_view what,
                const StatisticWeights& weights, std::size_t num_landmarks) {
  const Kernel kernel(spec);
  const Ranks ranks = ranks_for(builder.num_rows);
  PrincipalBasis basis =
      principal_basis(kernel, builder.rows, {.num_landmarks = num_landmarks, .max_rank = ranks.means},
                      builder.options.seed, builder.options.threads);
  if (basis.variances.empty()) return;  // all points are equal to this kernel
  const std::size_t count = std::min(ranks.quantiles, basis.variances.size());
  const SharedFunctions functions =
      builder.share(KernelFunctions{spec, std::move(basis.landmarks), std::move(basis.coefficients)});
  if (weights.quantiles > 0.0) {
    builder.add_directions({fmt::format("quantiles, {}", what), count, functions}, {GapSummary::average},
                           GapWeight::size);
    builder.plan.weights.push_back(weights.quantiles);
  }
  std::vector<MeanSummary> statistics;
  for (const auto& [summary, weight] : {std::pair{MeanSummary::coarse, weights.coarse},
                                        {MeanSummary::fine, weights.fine},
                                        {MeanSummary::finest, weights.finest}}) {
    if (weight == 0.0) continue;
    statistics.push_back(summary);
    builder.mean_weights.push_back(weight);
  }
  if (statistics.empty()) return;
  builder.means.push_back({.name = fmt::format("means, {}", what),
                           .count = basis.variances.size(),
                           .functions = functions,
                           .statistics = std::move(statistics),
                           .variances = std::move(basis.variances)});
}

// The reason why the linear kernel cannot be used, whose sums of squared products of rows may leave the range of
// numbers; empty when it can. `scales`: of rows that are not scaled yet.
std::optional<WarningId> linear_trouble(const Pool& rows, const std::vector<ColumnScale>& scales) {
  double largest = 0.0;
  Matrix<double> scaled(1, scales.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::span<const double> row = rows.row(i);
    if (!scales.empty()) {
      scale_rows(scales, {row.data(), 1, row.size()}, scaled);
      row = scaled.row(0);
    }
    for (const double value : row) largest = std::max(largest, std::abs(value));
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
  for (const auto& [factor, weights] : rows.dim() == 1 ? kGridOfOneColumn : kGrid) {
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
  const bool joins = in_range(close) && std::ranges::all_of(grid, is_another);
  const double least = std::min(middle, kLeastBandwidth * distances[distances.size() / kNearQuantile]);
  std::erase_if(grid, [&](const auto& entry) { return entry.first < least || !entry.second.any(); });
  if (joins) grid.emplace_back(close, kClosestPoints);
  return grid;
}

void add_kernels(AggregateBuilder& builder, const KernelSpec& kernel, std::size_t landmarks, bool with_linear) {
  const Pool rows = builder.rows;
  if (with_linear && rows.dim() > 1) {
    const KernelSpec linear = parse_kernel("linear");
    const std::size_t enough = std::max(landmarks, default_num_landmarks(linear, rows.size(), rows.dim()));
    add_kernel(builder, linear, "linear combinations", kLinearCombinations, enough);
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

// Landmarks of the kernels: all rows where they are few, so that nothing is drawn.
std::size_t num_kernel_landmarks(std::size_t num_rows) {
  constexpr std::size_t kAll = 256;
  constexpr std::size_t kSome = 128;
  return num_rows <= kAll ? num_rows : kSome;
}

// Changes of spread and of dependence, which are small along every single direction: distances to the centre in three
// metrics, squares of columns, products of columns and of components, and products that differ between clusters.
void add_second_order(AggregateBuilder& builder, std::size_t permutation_count) {
  const Pool rows = builder.rows;
  const Seed seed = builder.options.seed;
  const ThreadCount threads = builder.options.threads;
  const std::size_t landmarks =
      std::max(num_kernel_landmarks(builder.num_rows), std::min(rows.dim() + 1, kMostComponents));
  const LinearComponents components = linear_components(
      rows, {.num_landmarks = std::min(rows.size(), landmarks), .max_rank = kMostComponents}, seed, threads);
  if (components.variances.empty()) return;  // all rows are equal
  std::vector<double> ridges(kRidges.begin(), kRidges.end());
  if (rows.dim() == 1) ridges = {kRidges.back()};
  builder.add_directions({ridges.size() == 1 ? "distance to the centre" : "distances to the centre", ridges.size(),
                          builder.share(LeverageScores{components, ridges})},
                         {GapSummary::largest}, GapWeight::size);
  const auto dim = static_cast<double>(builder.parts.num_sources());
  builder.plan.weights.push_back(rows.dim() == 1 ? kSpreadOfOnlyColumn : std::min(kSpread, dim));
  if (rows.dim() == 1) return;
  const auto most_pairs =
      static_cast<std::size_t>(std::clamp(kPairBudget / static_cast<double>(builder.num_rows),
                                          static_cast<double>(kFewestPairs), static_cast<double>(kMostPairs)));
  const TableParts& parts = builder.parts;
  const PairProducts pairs = second_moments(components, rows, parts, kMultipliedComponents, most_pairs, seed);
  const SharedFunctions products = builder.share(pairs);
  std::vector<MeanFeatures> features = {{.name = "products of columns and components",
                                         .count = products.map->count,
                                         .functions = products,
                                         .statistics = {MeanSummary::largest, MeanSummary::average},
                                         .labels = labels_of(pairs, builder.names)}};
  const double share = std::min(1.0, (dim - 1.0) / (kColumnsForProducts - 1.0));
  builder.plan.weights.push_back(share * kLargestProduct);
  builder.plan.weights.push_back(share * kProductsOnAverage);
  const auto add_largest = [&](const std::string& name, const SharedFunctions& functions, double weight) {
    features.push_back(
        {.name = name, .count = functions.map->count, .functions = functions, .statistics = {MeanSummary::largest}});
    builder.plan.weights.push_back(weight);
  };
  const std::size_t num_numbers = parts.columns_of(ColumnKind::number).size();
  if (num_numbers >= kLeastColumnsForTriples) {
    if (num_numbers <= most_pairs / kShareOfSquares) {
      add_largest("squares of columns", builder.share(squares_of_columns(pairs, rows, parts)), kLargestSquare);
    }
    if (pairs.pairs.size() == num_numbers * (num_numbers - 1) / 2 && pairs.pairs.size() <= kMostTriples) {
      add_largest("products of columns and the first component", builder.share(third_moments(components, pairs, rows)),
                  kLargestTriple);
    }
  }
  const auto add_relations = [&](RelationKind kind, const std::string& name, double weight) {
    RelationProducts found = relation_products(rows, parts, kind, most_relation_functions(builder.num_rows), seed);
    if (found.relations.empty()) return;
    std::vector<std::string> labels;
    for (const Relation& relation : found.relations) labels.push_back(relation_label(relation, builder.names));
    features.push_back({.name = name,
                        .count = found.products.pairs.size(),
                        .functions = builder.share(std::move(found.products)),
                        .statistics = {MeanSummary::group},
                        .groups = std::move(found.groups),
                        .labels = std::move(labels)});
    builder.plan.weights.push_back(weight);
  };
  if (parts.mixed()) {
    add_relations(RelationKind::number_and_category, "relations of numbers and categories", kNumbersAndCategories);
    add_relations(RelationKind::categories, "relations of categories", kCategories);
  }
  builder.add_means(std::move(features), permutation_count);
}

struct ScaledSamples {
  Matrix<double> x;
  Matrix<double> y;
  std::vector<ColumnRole> roles;  // of their columns
};

// e-KQD along Gaussian directions, which gives the effect size. Its reference points are not rows, so none is held out;
// those of objects are, and stay.
MethodOptions options_of_effect(const MethodOptions& options, std::size_t max_memory) {
  MethodOptions plain = options;
  plain.directions = {.num_directions = kEffectDirections};
  if (is_of_objects(options.kernel)) {
    plain.directions.reference = ReferenceMeasure::pooled;
  } else {
    plain.directions.num_reference = kEffectDirections;
  }
  plain.power = 1.0;
  plain.weighting = {};
  plain.max_memory = max_memory;
  return plain;
}

// The rows of an aggregate: those of the pool, or pilot rows of groups, in the scales of their own columns if asked
// for.
AggregateBuilder begin(const TestPool& pool, const MethodOptions& options, const PlanRequest& request,
                       const BundleMemory& memory, PreparedPlan& prepared) {
  AggregateBuilder builder{.rows = pool.rows(),
                           .num_rows = pool.order.size(),
                           .options = options,
                           .row_weights = pool.weights_of(pool.order),
                           .memory = memory,
                           .plan = prepared.aggregate};
  if (prepared.grouped != nullptr) {
    builder.rows = prepared.grouped->pilot();
    builder.summary = std::make_shared<GroupedSummary>(prepared.grouped);
  }
  // Arrays of one unit have no categories unless someone says so.
  const std::vector<ColumnRole> roles = request.own_scales || !pool.roles().empty()
                                            ? roles_of_columns(builder.rows, pool.roles())
                                            : roles_of_numbers(builder.rows.dim());
  std::vector<std::size_t> columns(builder.rows.dim());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  const auto name_columns = [&] {
    const std::span<const std::string> names = pool.column_names();
    for (const std::size_t k : columns) {
      builder.names.push_back(k < names.size() ? names[k] : fmt::format("column {}", k + 1));
    }
  };
  if (!request.own_scales) {
    builder.rows.roles = pool.roles();
    builder.parts = table_parts(roles, columns);
    name_columns();
    return builder;
  }
  const bool grouped = builder.summary != nullptr;
  const Pool given = builder.rows;
  // Other rows than the pilot may have other values.
  auto scales =
      fit_column_scales(given.x, given.y, grouped ? ConstantColumns::kept : ConstantColumns::left_out, options.threads);
  scale_parts(given, roles, scales);
  columns.clear();
  for (const ColumnScale& scale : scales) columns.push_back(scale.column);
  builder.parts = table_parts(roles, columns);
  name_columns();
  std::vector<ColumnRole> of_scaled;
  for (const std::size_t column : columns) of_scaled.push_back(roles[column]);
  const auto scaled = std::make_shared<const ScaledSamples>(ScaledSamples{scaled_rows(scales, given.x, options.threads),
                                                                          scaled_rows(scales, given.y, options.threads),
                                                                          std::move(of_scaled)});
  prepared.aggregate.data = scaled;
  builder.rows = {scaled->x, scaled->y, given.order, scaled->roles};
  if (grouped) builder.scales = scales;
  return builder;
}

// Objects have no columns: statistics along the principal functions of their kernel.
void add_objects(AggregateBuilder& builder, const KernelSpec& kernel, std::size_t landmarks) {
  const std::string name = fmt::format("kernel {}", to_string(kernel));
  add_kernel(builder, kernel, name, kOneKernel, landmarks);
  if (!builder.plan.bundles.empty()) return;
  // All objects are alike: no permutation differs from another.
  const Matrix<double> first(1, 1, builder.rows.row(0)[0]);
  const SharedFunctions nothing = builder.share(KernelFunctions{kernel, first, Matrix<double>(1, 1, 0.0)});
  builder.add_directions({fmt::format("quantiles, {}", name), 1, nothing}, {GapSummary::average}, GapWeight::size);
  builder.plan.weights.push_back(1.0);
}

PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& given) {
  const bool of_objects = is_of_objects(options.kernel);
  PlanRequest request = given;
  if (of_objects) request.set_aside = request.own_scales = false;
  const ParameterValues parameters("adaptive", kParameters, options.parameters);
  const std::size_t num_rows = pool.order.size();
  const MemoryShares shares = memory_shares(options.max_memory, request.groups ? 0 : num_rows);
  PreparedPlan prepared = prepare_kqd(pool, options_of_effect(options, shares.effect), request, Over::mean, false);
  prepared.num_directions = 0;
  prepared.num_reference = 0;
  prepared.aggregate.rule = kCombineRules[parameters.count("combine")];
  if (options.max_memory > 0) prepared.aggregate.max_bytes = options.max_memory;

  AggregateBuilder builder = begin(pool, options, request, shares.bundles, prepared);
  KernelSpec kernel = prepared.frozen.kernel;
  if (request.own_scales) {
    Warnings of_scaled;  // the same as those of the rows as they were given
    kernel = resolve_kernel(options, builder.rows, of_scaled);
  }
  const std::size_t landmarks =
      parameters.count("landmarks") > 0 ? parameters.count("landmarks") : num_kernel_landmarks(num_rows);
  if (of_objects) {
    add_objects(builder, kernel, landmarks);
  } else {
    add_columns(builder, prepared.warnings);
    const auto trouble = linear_trouble(builder.scales.empty() ? builder.rows : pool.rows(), builder.scales);
    if (trouble) warn(prepared.warnings, *trouble);
    add_kernels(builder, kernel, landmarks, !trouble);
    if (!trouble) add_second_order(builder, request.permutation_count);
  }
  if (!builder.means.empty()) builder.add_means(std::move(builder.means), request.permutation_count);
  if (builder.summary != nullptr) builder.summary->collect(options.threads);
  auto& weights = prepared.aggregate.weights;
  weights.insert(weights.end(), builder.mean_weights.begin(), builder.mean_weights.end());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  prepared.details = {{"configurations", static_cast<double>(weights.size())},
                      {"landmarks", static_cast<double>(landmarks)}};
  return prepared;
}

}  // namespace

Method adaptive_method() {
  return {
      .info =
          {.id = "adaptive",
           .family = "kernel quantiles",
           .summary = "many kinds of difference at once: columns, linear and kernel directions, means and quantiles",
           .reports = "log sum (w/p)^1.5 over configurations, p their smooth p-values and w their weights",
           .cost = "N m (d + m) + (l + d) N log N",
           .permutation = "(l + d + r) N",
           .calibrations = "permutation, sign-flip",
           .details =
               "Looks at the samples in many ways: quantiles of single columns (by values, and by ranks with "
               "weight on the tails) and their shapes, distances to the centre, squares and products of columns, "
               "shares of levels and of missing values, relations of numbers and categories, "
               "means and quantiles along linear principal components and along the principal functions of the "
               "kernel at bandwidths from a tenth of the median rule (or the closest points, if they are closer) "
               "to twice it. Objects and Gram matrices have no columns: of them it looks at means and quantiles along "
               "the principal functions of their kernel. Everything is chosen from the unlabelled pool. Each "
               "statistic is turned into a smooth p-value by its own permutations, a soft minimum of them is "
               "taken (parameter combine), and the same permutations calibrate it: one layer, exact. The table "
               "of configurations says which kind of difference was found; its adjusted p-values hold for all "
               "of them together. The effect size is that of ekqd.",
           .reference = "kqd: docs/design/0005-adaptive-test.md; min-p: Westfall and Young (1993)",
           .sign_flip = true,
           .groups = true,
           .uses = {.kernel = true, .max_memory = true, .own_scales = true},
           .parameters = kParameters,
           .effect_method = "ekqd"},
      .prepare = prepare};
}

}  // namespace kqd
