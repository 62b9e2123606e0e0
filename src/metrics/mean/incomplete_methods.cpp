#include "metrics/all_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/fail.hpp"
#include "core/parameter_values.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/resolve.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/direct_plan.hpp"
#include "metrics/feasible.hpp"
#include "metrics/mean/incomplete_mmd.hpp"
#include "metrics/mean/pool_spread.hpp"
#include "metrics/mean/sign_flip_plan.hpp"
#include "metrics/numerics.hpp"
#include "metrics/test_pool.hpp"

namespace kqd {
namespace {

// The pairs of rows that are averaged over.
enum class Form { lin, multi, block };

constexpr double kMaxRows = 4e9;

constexpr std::array<ParameterInfo, 1> kMultiParameters = {{
    {"subdiagonals", 0, 0, kMaxRows, true, "rows at most this far apart are compared; 0: floor(log n)^2, at least 1"},
}};
constexpr std::array<ParameterInfo, 1> kBlockParameters = {{
    {"block", 0, 0, kMaxRows, true, "rows per block, at least 2, cut to n; 0: floor(sqrt(n)), at least 2"},
}};

constexpr std::string_view id_of(Form form) {
  return form == Form::lin ? "mmd-lin" : form == Form::multi ? "mmd-multi" : "mmd-block";
}

PairPattern pattern_of(Form form, const Parameters& given, std::size_t n) {
  if (form == Form::lin) return PairPattern::blocks(n, 2);
  if (form == Form::multi) {
    const std::size_t width = ParameterValues(id_of(form), kMultiParameters, given).count("subdiagonals");
    const auto log_n = static_cast<std::size_t>(std::log(static_cast<double>(n)));
    return PairPattern::band(n, width > 0 ? width : std::max<std::size_t>(1, log_n * log_n));
  }
  const std::size_t size = ParameterValues(id_of(form), kBlockParameters, given).count("block");
  if (size == 1) fail(ErrorCode::invalid_option, "mmd-block: block = 1 leaves no pairs, needs at least 2");
  const auto root_n = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  return PairPattern::blocks(n, size > 0 ? size : std::max<std::size_t>(2, root_n));
}

// Rows are compared in the given order, as many of each sample as the smaller one has.
std::size_t usable_rows(Form form, const SampleView& x, const SampleView& y, Warnings& warnings) {
  if (x.weighted() || y.weighted()) {
    fail(ErrorCode::invalid_weights,
         "{} takes no weights: it averages over pairs of rows, all alike; mmd and mmd-v take them", id_of(form));
  }
  const std::size_t n = std::min(x.size(), y.size());
  if (n < 2) {
    fail(ErrorCode::empty_sample, "{} has one row, {} needs at least two (mmd-v takes one)", x.size() < 2 ? "X" : "Y",
         id_of(form));
  }
  if (x.size() != y.size()) {
    const bool longer_x = x.size() > n;
    const std::size_t size = (longer_x ? x : y).size();
    warn(warnings, WarningId::unmatched_rows, id_of(form), size - n, size, longer_x ? "X" : "Y");
  }
  return n;
}

// Rough seconds of one thread for `count` evaluations: four kernel values per pair, as many outside of the pattern, and
// rows fetched from all over the memory.
double seconds_of(const PairPattern& pattern, std::size_t dim, std::size_t count) {
  const auto d = static_cast<double>(dim);
  const double once = 8.0 * static_cast<double>(pattern.num_pairs()) * seconds_per_kernel_value(dim) +
                      static_cast<double>(pattern.num_rows()) * (2e-7 + 2e-9 * d);
  return once * static_cast<double>(count);
}

void require_feasible_pairs(Form form, const PairPattern& pattern, std::size_t dim, std::size_t count, bool allowed) {
  require_feasible_seconds(seconds_of(pattern, dim, count), allowed,
                           fmt::format("{} over {:.2g} pairs of rows, {} times", id_of(form),
                                       static_cast<double>(pattern.num_pairs()), count));
}

// Sign flips keep one number per pair.
void require_storable_terms(Form form, const PairPattern& pattern, bool allowed) {
  constexpr double kMaxBytes = 4e9;
  const double bytes = 8.0 * static_cast<double>(pattern.num_pairs());
  if (allowed || bytes <= kMaxBytes) return;
  fail(ErrorCode::resource_limit,
       "{} keeps the terms of {:.2g} pairs of rows, {:.1f} GB; {}, fewer subdiagonals or smaller blocks", id_of(form),
       static_cast<double>(pattern.num_pairs()), bytes / 1e9, kHowToAllow);
}

std::vector<Detail> details_of(Form form, const PairPattern& pattern) {
  std::vector<Detail> details;
  if (form != Form::lin) {
    details.push_back({form == Form::multi ? "subdiagonals" : "block", static_cast<double>(pattern.width())});
  }
  details.push_back({"pairs", static_cast<double>(pattern.num_pairs())});
  return details;
}

// The distance and the sums of its terms.
struct Computed {
  DistanceResult result;
  PairPattern pattern;
  std::vector<double> row_sums;
};

Computed compute(Form form, const SampleView& x_given, const SampleView& y_given, const MethodOptions& options) {
  validate(options);
  validate_pair(x_given, y_given, options.threads);
  DistanceResult result;
  warn_about_data(x_given, y_given, result.warnings);
  const std::size_t n = usable_rows(form, x_given, y_given, result.warnings);
  const PairPattern pattern = pattern_of(form, options.parameters, n);
  require_feasible_pairs(form, pattern, x_given.dim(), 1, options.allow_quadratic);
  result.kernel = resolve_on_test_pool(x_given, y_given, options, result.warnings);
  std::vector<std::size_t> x(n);
  std::vector<std::size_t> y(n);
  std::iota(x.begin(), x.end(), 0);
  std::iota(y.begin(), y.end(), x_given.size());
  std::vector<double> sums =
      term_row_sums(Kernel(result.kernel), pattern, {{x_given.points, y_given.points}, x, y}, options.threads);
  result.statistic = result.statistic_power = mean_term(pattern, sums);
  result.details = details_of(form, pattern);
  return {std::move(result), pattern, std::move(sums)};
}

template <Form form>
DistanceResult distance(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  return compute(form, x, y, options).result;
}

// The U-statistics of blocks are independent and alike, so their mean is normal in the limit [Zar13]; blocks of two
// rows are the linear-time statistic [Gre12, Theorem 15].
template <Form form>
AsymptoticResult asymptotic(const SampleView& x, const SampleView& y, const MethodOptions& options) {
  Computed computed = compute(form, x, y, options);
  const std::size_t size = computed.pattern.width();
  const std::size_t num_blocks = computed.pattern.num_rows() / size;
  if (num_blocks < 2) {
    fail(ErrorCode::empty_sample,
         "{} has one block of {} rows, its limiting distribution needs at least two; use permutation", id_of(form),
         size);
  }
  const double pairs_per_block = 0.5 * static_cast<double>(size) * static_cast<double>(size - 1);
  std::vector<double> block_means(num_blocks);
  for (std::size_t b = 0; b < num_blocks; ++b) {
    block_means[b] = sum(std::span(computed.row_sums).subspan(b * size, size)) / pairs_per_block;
  }
  const double error = standard_error(block_means, computed.result.statistic);
  AsymptoticResult found{.result = std::move(computed.result), .limiting_distribution = "normal, one-sided"};
  constexpr std::size_t kManyTerms = 30;
  if (num_blocks < kManyTerms) warn(found.result.warnings, WarningId::few_terms, num_blocks);
  if (error > 0.0) {
    const double z = found.result.statistic / error;
    found.pvalue = 0.5 * std::erfc(z / std::numbers::sqrt2);
    found.result.details.push_back({"z", z});
  } else {
    warn(found.result.warnings, WarningId::equal_terms, num_blocks);
  }
  return found;
}

// A statistic of pairs of rows at the same place of their samples, computed again for every permutation.
std::unique_ptr<const Plan> direct_plan(Form form, const Kernel& kernel, const TestPool& pool,
                                        std::vector<std::size_t> order, const Parameters& parameters,
                                        double largest_value) {
  const std::size_t num_rows = order.size();
  const MatrixView<const double> x_points = pool.x.points;
  const MatrixView<const double> y_points = pool.y.points;
  auto statistic = [=, order = std::move(order)](std::span<const std::size_t> x, std::span<const std::size_t> y) {
    const std::size_t n = std::min(x.size(), y.size());
    if (n < 2) return 0.0;  // no pairs: permutations of clusters may leave a sample with one row
    const PairPattern pattern = pattern_of(form, parameters, n);
    const PairedRows rows{{x_points, y_points, order}, x, y};
    return mean_term(pattern, term_row_sums(kernel, pattern, rows, ThreadCount{1}));
  };
  // A kernel value rounds by some (dim + 16) eps of the largest one, a term holds four; a row of a tile adds up at most
  // 512 terms of at most four such values, the rest of the mean rounds twice. Two values may differ by twice as much.
  const double slack =
      8.0 * static_cast<double>(pool.x.dim() + 16 + 512 + 2) * largest_value * std::numeric_limits<double>::epsilon();
  return std::make_unique<DirectPlan>(num_rows, std::move(statistic), [slack](double) { return slack; });
}

template <Form form>
PreparedPlan prepare(const TestPool& pool, const MethodOptions& options, const PlanRequest& request) {
  PreparedPlan prepared;
  const std::size_t n = usable_rows(form, pool.x, pool.y, prepared.warnings);
  const PairPattern pattern = pattern_of(form, options.parameters, n);
  const std::size_t count = request.swaps_only ? 1 : request.permutation_count;
  require_feasible_pairs(form, pattern, pool.x.dim(), count, options.allow_quadratic);
  if (request.swaps_only) require_storable_terms(form, pattern, options.allow_quadratic);
  if (!request.swaps_only) prepared.expected_seconds = seconds_of(pattern, pool.x.dim(), count);
  prepared.frozen = options;
  prepared.frozen.kernel = resolve_kernel(options, pool.rows(), prepared.warnings);
  const Kernel kernel(prepared.frozen.kernel);
  prepared.rows = request.swaps_only ? order_by_pairs(pool) : pool.order;
  const PoolSpread spread = pool_spread(kernel, pool.rows(), options.threads);
  prepared.pooled_scale = spread.variance;
  prepared.squares = true;
  prepared.details = details_of(form, pattern);
  if (request.swaps_only) {
    prepared.plan = std::make_unique<SignFlipPlan>(kernel, pattern, Pool{pool.x.points, pool.y.points, prepared.rows},
                                                   options.threads);
  } else {
    prepared.plan = direct_plan(form, kernel, pool, prepared.rows, options.parameters, spread.largest_value);
  }
  return prepared;
}

}  // namespace

Method mmd_lin_method() {
  return {.info = {.id = "mmd-lin",
                   .family = "mean embeddings",
                   .summary = "linear-time MMD: rows 1 and 2, 3 and 4, ...",
                   .reports = "an unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
                   .cost = "n d",
                   .permutation = "n d; n by sign-flip",
                   .calibrations = "permutation, sign-flip, asymptotic",
                   .details =
                       "The mean of h = k(x,x') + k(y,y') - k(x,y') - k(x',y) over rows 2i-1 and 2i of both samples. A "
                       "statistic of the order of rows: a distance takes them as they stand; of unequal samples the "
                       "longer is cut, of an odd number one row is left out. Sign flips reuse all kernel values; the "
                       "asymptotic distribution is normal.",
                   .reference = "Gretton et al.: A Kernel Two-Sample Test (JMLR 2012), Lemma 14",
                   .sign_flip = true,
                   .uses = {.kernel = true}},
          .distance = distance<Form::lin>,
          .prepare = prepare<Form::lin>,
          .asymptotic = asymptotic<Form::lin>};
}

Method mmd_multi_method() {
  return {
      .info = {.id = "mmd-multi",
               .family = "mean embeddings",
               .summary = "incomplete MMD over some subdiagonals of the Gram matrix",
               .reports = "an unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
               .cost = "r n d for r subdiagonals",
               .permutation = "r n d; r n by sign-flip",
               .calibrations = "permutation, sign-flip",
               .details =
                   "The mean of h = k(x,x') + k(y,y') - k(x,y') - k(x',y) over rows at most r apart; r = n - 1 is "
                   "the full one-sample U-statistic. A statistic of the order of rows: a distance takes them as "
                   "they stand; of unequal samples the longer is cut. Sign flips reuse all kernel values and keep r "
                   "n of them.",
               .reference =
                   "Schrab et al.: Efficient Aggregated Kernel Tests using Incomplete U-statistics (NeurIPS 2022)",
               .sign_flip = true,
               .uses = {.kernel = true},
               .parameters = kMultiParameters},
      .distance = distance<Form::multi>,
      .prepare = prepare<Form::multi>};
}

Method mmd_block_method() {
  return {.info = {.id = "mmd-block",
                   .family = "mean embeddings",
                   .summary = "mean of the unbiased MMDs of blocks of rows",
                   .reports = "an unbiased estimate of MMD^2: signed, near 0 when the samples are alike",
                   .cost = "n b d for blocks of b rows",
                   .permutation = "n b d; n b by sign-flip",
                   .calibrations = "permutation, sign-flip, asymptotic",
                   .details =
                       "The samples are cut into blocks of b rows; rows of a last block that is not full are left out. "
                       "A statistic of the order of rows: a distance takes them as they stand; of unequal samples the "
                       "longer is cut. Sign flips reuse all kernel values; the asymptotic distribution is normal, for "
                       "many blocks.",
                   .reference = "Zaremba et al.: B-tests: Low Variance Kernel Two-Sample Tests (NeurIPS 2013)",
                   .sign_flip = true,
                   .uses = {.kernel = true},
                   .parameters = kBlockParameters},
          .distance = distance<Form::block>,
          .prepare = prepare<Form::block>,
          .asymptotic = asymptotic<Form::block>};
}

}  // namespace kqd
