#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "kernel/resolve.hpp"
#include "metrics/all_methods.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/monk.hpp"
#include "metrics/mean/pool_spread.hpp"
#include "metrics/stored_gram.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

constexpr std::size_t kUsualBlocks = 11;

constexpr std::array<std::string_view, 3> kForms = {"block-median", "bcd-fast", "bcd"};
constexpr std::array<ParameterInfo, 7> kParameters = {{
    {"form", 0, 0, 2, true, "a closed form, or one of the two iterations of the paper", kForms},
    {"blocks", 0, 0, 1e9, true, "an odd number of blocks of rows; 0: 11, with at least two rows each"},
    {"iterations", 100, 1, 1e6, true, "steps of bcd and bcd-fast"},
    {"beta", 1e-3, 0, 1e6, false, "step t of bcd and bcd-fast goes 1/(1 + beta t) of the way"},
    {"jitter", 0, 0, 1e6, false, "added to the diagonal of the Gram matrix by bcd and bcd-fast; the authors add 1e-5"},
    {"reshuffles", 5, 1, 1e6, true, "partitions that bcd-fast goes through"},
    {"stall", 10, 0, 1e6, true, "steps of bcd-fast before the second partition"},
}};

std::size_t largest_odd(std::size_t limit) {
  return limit < 2 ? 1 : limit - (limit % 2 == 0 ? 1 : 0);
}

MonkOptions monk_options(const MethodOptions& options, std::size_t nx, std::size_t ny) {
  const ParameterValues values("monk", kParameters, options.parameters);
  const std::size_t n = std::min(nx, ny);
  std::size_t blocks = values.count("blocks");
  if (blocks > 0 && blocks % 2 == 0) {
    fail(ErrorCode::invalid_option,
         "monk: blocks = {} is even, needs an odd number (one block is the median), such as {} or {}", blocks,
         blocks - 1, blocks + 1);
  }
  if (blocks > n) {
    fail(ErrorCode::invalid_option, "monk: blocks = {} is more than the {} rows of {}, needs at most one block per row",
         blocks, n, nx <= ny ? "X" : "Y");
  }
  if (blocks == 0) blocks = std::min(kUsualBlocks, largest_odd(n / 2));
  return {.form = values.choice<MonkForm>("form"),
          .num_blocks = blocks,
          .iterations = values.count("iterations"),
          .beta = values.value("beta"),
          .jitter = values.value("jitter"),
          .reshuffles = values.count("reshuffles"),
          .stall = values.count("stall"),
          .seed = options.seed};
}

void refuse_weights(const SampleView& x, const SampleView& y) {
  if (!x.weighted() && !y.weighted()) return;
  fail(ErrorCode::invalid_weights,
       "monk takes no weights: its median counts blocks of rows, all alike; mmd-v and kmedian take them");
}

// Rough seconds of one thread: kernel values of all blocks for each partition, or N / Q columns of the Gram matrix for
// each step of bcd.
double seconds_of(const MonkOptions& options, std::size_t nx, std::size_t ny, std::size_t dim, std::size_t count) {
  const auto n = static_cast<double>(nx + ny);
  const auto blocks = static_cast<double>(options.num_blocks);
  const double values = n * n / blocks;
  double once = values * static_cast<double>(options.iterations) * 1e-9;
  if (options.form != MonkForm::bcd) {
    const double partitions = options.form == MonkForm::bcd_fast ? static_cast<double>(options.reshuffles) : 1.0;
    once = partitions * (blocks * 1e-5 + 0.5 * values * seconds_per_kernel_value(dim));
  }
  return once * static_cast<double>(count);
}

void require_feasible_monk(const MonkOptions& options, const SampleView& x, const SampleView& y, std::size_t count,
                           bool allowed) {
  require_feasible_seconds(
      seconds_of(options, x.size(), y.size(), x.dim(), count), allowed,
      fmt::format("monk of {} and {} rows in {} blocks, {} times", x.size(), y.size(), options.num_blocks, count));
}

// The Gram matrix of the rows of a pool; only bcd needs it.
Matrix<double> gram_for(const MonkOptions& monk, const Kernel& kernel, const Pool& pool, const MethodOptions& options) {
  if (monk.form != MonkForm::bcd) return {};
  require_storable_gram(pool.size(), pool.dim(), options.allow_quadratic, "monk by bcd");
  Matrix<double> rows(pool.size(), pool.dim());
  copy_rows(pool, 0, rows);
  return gram_matrix(kernel, rows, options.threads);
}

DistanceResult monk_distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  validate(options);
  validate_pair(x, y, options.threads);
  refuse_weights(x, y);
  DistanceResult result;
  warn_about_data(x, y, result.warnings);
  const MonkOptions monk_options_here = monk_options(options, x.size(), y.size());
  require_feasible_monk(monk_options_here, x, y, 1, options.allow_quadratic);
  result.kernel = resolve_on_test_pool(x, y, options, result.warnings);
  const Kernel kernel(result.kernel);
  const Pool pool{x.points, y.points};
  std::vector<std::size_t> rows(pool.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::span all(rows);
  result.statistic = result.statistic_power =
      monk(kernel, pool, all.first(x.size()), all.subspan(x.size()), gram_for(monk_options_here, kernel, pool, options),
           monk_options_here, options.threads);
  result.details = {{"blocks", static_cast<double>(monk_options_here.num_blocks)}};
  return result;
}

PreparedPlan prepare_monk(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  refuse_weights(pool.x, pool.y);
  const MonkOptions observed = monk_options(options, pool.x.size(), pool.y.size());
  require_feasible_monk(observed, pool.x, pool.y, request.permutation_count, options.allow_quadratic);
  PreparedPlan prepared = plan_on_all_rows(pool, options);
  prepared.expected_seconds =
      seconds_of(observed, pool.x.size(), pool.y.size(), pool.x.dim(), request.permutation_count);
  const Kernel kernel(prepared.frozen.kernel);
  // Blocks are cut by the positions of rows within their sample. If x_i and y_i swap, both keep position i.
  if (request.swaps_only) prepared.rows = order_by_pairs(pool);
  prepared.details = {{"blocks", static_cast<double>(observed.num_blocks)}};
  const Pool rows{pool.x.points, pool.y.points, prepared.rows};
  const PoolSpread spread = pool_spread(kernel, pool.rows(), options.threads);
  prepared.pooled_scale = std::sqrt(spread.variance);
  auto statistic = [kernel, x_points = pool.x.points, y_points = pool.y.points, order = prepared.rows,
                    gram = std::make_shared<const Matrix<double>>(gram_for(observed, kernel, rows, options)),
                    observed](std::span<const std::size_t> x, std::span<const std::size_t> y) {
    MonkOptions here = observed;  // permutations of clusters may have fewer rows than blocks
    here.num_blocks = std::min(here.num_blocks, largest_odd(std::min(x.size(), y.size())));
    return monk(kernel, {x_points, y_points, order}, x, y, *gram, here, ThreadCount{1});
  };
  // Four means of kernel values, each rounding by some (dim + 16) eps of the largest and added up in tiles of 256 rows;
  // the statistic is a root of their sum, or for the iterations that sum over a root of another.
  const double slack = 8.0 * static_cast<double>(pool.x.dim() + 16 + 256) * std::numeric_limits<double>::epsilon() *
                       spread.largest_value;
  prepared.plan = std::make_unique<DirectPlan>(prepared.rows.size(), std::move(statistic), [slack](double value) {
    const double size = std::abs(value);
    return size > 0.0 ? std::min(std::sqrt(slack), slack / size) : std::sqrt(slack);
  });
  return prepared;
}

}  // namespace

Method monk_method() {
  return {
      .info =
          {.id = "monk",
           .family = "mean embeddings",
           .summary = "median-of-means MMD, which few outliers cannot move far",
           .reports = "an estimate of MMD, not squared; >= 0 for block-median",
           .cost = "n^2 d / Q for Q blocks; T N^2 / Q more for bcd",
           .permutation = "as the first: every permutation is computed again",
           .calibrations = "permutation, sign-flip",
           .details =
               "The largest median over blocks of mean f(x) - mean f(y), |f| <= 1; as long as fewer than half "
               "of the blocks hold outliers it stays bounded. form=block-median, the default, gives each block "
               "its own f: the median of MMD_V over blocks in closed form, which bcd-fast (the variant of the "
               "published comparisons) can only fall short of on the same blocks; bcd has one f for all blocks. "
               "Blocks are cut by a random order of rows that depends on the seed and on the order of the rows: "
               "compare "
               "values of one seed. A test puts the rows in an order without labels first, so its statistic differs "
               "from the distance. The published comparisons take floor(n / log n) blocks.",
           .reference = "Lerasle et al.: MONK: Outlier-Robust Mean Embedding Estimation by Median-of-Means (ICML 2019)",
           .sign_flip = true,
           .uses = {.kernel = true},
           .parameters = kParameters},
      .distance = monk_distance,
      .prepare = prepare_monk};
}

}  // namespace kqd
