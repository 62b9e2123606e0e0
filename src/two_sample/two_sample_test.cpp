#include "kqd/two_sample/two_sample_test.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/finite.hpp"
#include "core/names.hpp"
#include "core/warning.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/feasible.hpp"
#include "metrics/method.hpp"
#include "metrics/object_options.hpp"
#include "profile/grouped_rows.hpp"
#include "profile/row_groups.hpp"
#include "testing/aggregated_test.hpp"
#include "testing/permutation_run.hpp"
#include "two_sample/effect_interval.hpp"
#include "two_sample/group_jackknife.hpp"
#include "two_sample/precision_test.hpp"
#include "two_sample/size_parts.hpp"
#include "two_sample/test_by_method.hpp"
#include "two_sample/test_samples.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<Calibration>, 3> kCalibrations = {{
    {Calibration::permutation, "permutation"},
    {Calibration::sign_flip, "sign-flip"},
    {Calibration::asymptotic, "asymptotic"},
}};

constexpr std::array<Name<Permute>, 3> kPermutes = {{
    {Permute::automatic, "auto"},
    {Permute::rows, "rows"},
    {Permute::groups, "groups"},
}};

// Labels of the permutations under way get a quarter of a memory bound, the method the rest.
constexpr std::size_t kLabelShare = 4;

// Work that takes longer than this is announced before it starts.
constexpr double kSecondsWorthANotice = 10.0;

// The design whose permutations the test draws from: swaps within pairs when it is calibrated by sign flips.
Design calibrated_design(const TwoSampleOptions& options, const MethodInfo& method, SampleSizes sizes) {
  if (options.calibration != Calibration::sign_flip) return options.test.design;
  if (!method.sign_flip) {
    fail(ErrorCode::invalid_option,
         KQD_OPTION("calibration=sign-flip") " is not valid for {}, expected " KQD_OPTION("calibration=permutation"),
         method.id);
  }
  if (sizes.x != sizes.y) {
    fail(ErrorCode::invalid_option, KQD_OPTION("calibration=sign-flip") " needs samples of equal size, got {} and {}",
         sizes.x, sizes.y);
  }
  if (options.test.design.kind != DesignKind::independent && options.test.design.kind != DesignKind::paired) {
    fail(ErrorCode::invalid_option,
         KQD_OPTION("calibration=sign-flip") " requires an independent or paired design, got {}",
         to_string(options.test.design.kind));
  }
  return Design::paired();
}

// Tests with weights that stay at their positions compute each permutation from scratch, for these designs only.
void require_exchangeable_positions(const TwoSampleOptions& options) {
  const DesignKind design = options.test.design.kind;
  if (design != DesignKind::clusters && options.calibration == Calibration::permutation) return;
  fail(ErrorCode::invalid_option,
       KQD_OPTION("weights_as=precision") " requires " KQD_OPTION("calibration=permutation") " and an independent, paired or blocks "
                                          "design, got {}",
       design == DesignKind::clusters ? "clusters" : to_string(options.calibration));
}

void require_asymptotic(const TwoSampleOptions& options, const MethodInfo& method) {
  if (!method.asymptotic) {
    fail_option("calibration", "asymptotic", fmt::format("one of {} for method {}", method.calibrations, method.id));
  }
  if (options.test.design.kind != DesignKind::independent) {
    fail(ErrorCode::invalid_option, KQD_OPTION("calibration=asymptotic") " requires an independent design, got {}",
         to_string(options.test.design.kind));
  }
}

// Options and samples of a test after all checks, with the warnings about the data.
struct CheckedTest {
  MethodOptions statistic;
  TestOptions test;  // its design is that of `samples`
  TestSamples samples;
  std::uint64_t identity = 0;
  std::vector<std::uint64_t> group_keys;  // of the rows of `samples`, unless they are assigned to groups at random
  bool own_scales = false;                // columns are measured in their own scales
  bool weights_stay = false;              // permutations exchange rows and leave the weights at their positions
  Warnings warnings;

  [[nodiscard]] SampleSizes sizes() const { return {samples.x.size(), samples.y.size()}; }
};

// Splits a memory bound between the labels and the method, and gives the test the threads of the statistic.
void share_resources(MethodOptions& statistic, TestOptions& test) {
  test.threads = statistic.threads;
  if (statistic.max_memory == 0) return;
  test.max_label_memory = statistic.max_memory / kLabelShare;
  statistic.max_memory -= test.max_label_memory;
}

void warn_about_samples(CheckedTest& checked) {
  const SampleView& x = checked.samples.x;
  const SampleView& y = checked.samples.y;
  warn_about_data(x, y, checked.warnings);
  append(checked.warnings, checked.samples.warnings);
  if (!checked.own_scales) warn_about_scales(x, y, checked.warnings);
  if (checked.test.design.kind == DesignKind::clusters) return;  // copies within a cluster are as they should be
  warn_about_copies(x, "X", checked.warnings);
  warn_about_copies(y, "Y", checked.warnings);
}

// Keys of the rows that are left of both samples. Ranks keep their order when rows are dropped.
std::vector<std::uint64_t> keys_of_samples(const TestSamples& samples, SampleSizes given,
                                           const TwoSampleOptions& options) {
  const std::size_t expected = options.groups.assignment == GroupAssignment::random ? 0 : given.x + given.y;
  if (options.group_keys.size() != expected) {
    fail(ErrorCode::shape_mismatch, "groups by {} of {} rows need {} keys, got {}", to_string(options.groups),
         given.x + given.y, expected, options.group_keys.size());
  }
  if (expected == 0 || (samples.x_rows.empty() && samples.y_rows.empty())) return options.group_keys;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < samples.x.size(); ++i) {
    keys.push_back(options.group_keys[samples.x_rows.empty() ? i : samples.x_rows[i]]);
  }
  for (std::size_t i = 0; i < samples.y.size(); ++i) {
    keys.push_back(options.group_keys[given.x + (samples.y_rows.empty() ? i : samples.y_rows[i])]);
  }
  return keys;
}

CheckedTest check(const MethodInfo& method, const SampleView& x, const SampleView& y, const TwoSampleOptions& options) {
  CheckedTest checked{.statistic = adapted_to_objects(method, options.statistic),
                      .test = options.test,
                      .samples = {},
                      .group_keys = {},
                      .warnings = {}};
  share_resources(checked.statistic, checked.test);
  const ThreadCount threads = checked.statistic.threads;
  validate(checked.statistic);
  validate_parameters(method, checked.statistic.parameters);
  validate(checked.test);
  validate_pair(x, y, threads);
  require_weights(x, y, options.weights_as);
  const Design design = calibrated_design(options, method, {x.size(), y.size()});
  // A limiting distribution exchanges nothing, so weights need not be exchangeable.
  const bool no_exchange = options.calibration == Calibration::asymptotic && options.weights_as == WeightsAs::checked;
  checked.identity = identity_of(x, y, checked.statistic.kernel);  // before any row is dropped
  checked.samples = make_test_samples(x, y, design, no_exchange ? WeightsAs::frequency : options.weights_as,
                                      checked.statistic.seed, threads);
  checked.test.design = checked.samples.design;
  checked.group_keys = keys_of_samples(checked.samples, {x.size(), y.size()}, options);
  checked.weights_stay =
      options.weights_as == WeightsAs::precision && (checked.samples.x.weighted() || checked.samples.y.weighted());
  if (checked.weights_stay) require_exchangeable_positions(options);
  if (method.uses.points) {
    check_reference_points(checked.statistic.directions.reference_points, checked.samples.x, checked.samples.y,
                           checked.statistic.seed, threads);
  }
  checked.own_scales = method.uses.own_scales && options.own_scales && !is_of_objects(checked.statistic.kernel);
  warn_about_samples(checked);
  if (options.calibration == Calibration::asymptotic) require_asymptotic(options, method);
  return checked;
}

// True when groups of rows are permuted. Throws where they are asked for and cannot be.
bool permutes_groups(const MethodInfo& method, const CheckedTest& checked, const TwoSampleOptions& options) {
  const bool at_random = options.groups.assignment == GroupAssignment::random;
  if (options.permute == Permute::rows) {
    if (!at_random) fail_option("groups", to_string(options.groups), "random where rows are permuted");
    return false;
  }
  const bool weighted = checked.samples.x.weighted() || checked.samples.y.weighted();
  std::string_view obstacle;
  if (!method.groups) obstacle = "the method permutes rows";
  if (checked.test.design.kind != DesignKind::independent) obstacle = "the design is not independent";
  if (weighted) obstacle = "rows have weights";
  if (checked.statistic.point_evaluated_levels) obstacle = "point-evaluated levels need rows";
  if (!at_random && !obstacle.empty()) {
    fail_option("groups", to_string(options.groups),
                fmt::format("random for method {} here, because {}", method.id, obstacle));
  }
  if (options.permute == Permute::groups && !obstacle.empty()) {
    fail_option("permute", "groups", fmt::format("rows or auto for method {} here, because {}", method.id, obstacle));
  }
  const std::size_t rows = checked.samples.x.size() + checked.samples.y.size();
  const bool many = are_many(rows, checked.samples.x.dim());
  return obstacle.empty() && (options.permute == Permute::groups || !at_random || many);
}

// Permutations of the units of a plan.
PermutationSource permutations_of(const CheckedTest& checked, const TestPool& pool, const PreparedPlan& plan) {
  if (plan.grouped == nullptr) {
    return {checked.test.design, checked.sizes(), plan.rows, pool.permutation_seed};
  }
  const RowGroups& groups = plan.grouped->groups();
  return {Design::independent(), {groups.sizes.num_x, groups.sizes.num_y}, groups.order, pool.permutation_seed};
}

// The pooled rows, the statistic prepared on them and the permutations to evaluate it for.
struct PreparedTest {
  TestPool pool;
  std::vector<std::size_t> positions;  // of (X, Y), in an order that rows and weights decide
  PlanRequest request;
  PreparedPlan plan;
  PermutationSource permutations;
};

PlanRequest plan_request(const CheckedTest& checked, bool set_aside, std::size_t permutation_count) {
  const DesignKind design = checked.test.design.kind;
  return {.set_aside = set_aside,
          .swaps_only = design == DesignKind::paired,
          .bound_rows = design == DesignKind::blocks || design == DesignKind::clusters,
          .own_scales = checked.own_scales,
          .permutation_count = permutation_count,
          .whole_units = [&checked](std::span<const std::size_t> rows) {
            return whole_units(checked.test.design, checked.sizes(), rows);
          }};
}

// Permutations of all rows give the number of permutations, with which plans estimate their time; they serve the test
// itself unless the plan holds rows out or puts them in another order.
PreparedTest prepare(const Method& method, const CheckedTest& checked, const TwoSampleOptions& options,
                     const RunControl* control) {
  const SampleView& x = checked.samples.x;
  const SampleView& y = checked.samples.y;
  const ThreadCount threads = checked.statistic.threads;
  TestPool pool = make_test_pool(x, y, threads, checked.identity);
  std::vector<std::size_t> positions = pool.order;
  if (checked.weights_stay) {
    // The order of rows must not depend on the weights they were observed with.
    pool.order = make_test_pool({x.points, {}}, {y.points, {}}, threads).order;
  }
  const TestOptions& test = checked.test;
  const bool groups = permutes_groups(method.info, checked, options);
  PermutationSource permutations(test.design, checked.sizes(), pool.order, pool.permutation_seed);
  const PermutationRun run(permutations, static_cast<std::uint64_t>(test.num_permutations), test.enumeration_limit);
  if (test.early_stop != EarlyStop::none && method.distance == nullptr && method.info.effect_words.empty() &&
      !run.enumerated()) {
    fail(ErrorCode::invalid_option,
         "early stopping needs a method with one statistic, {} combines several; use " KQD_OPTION("method=ekqd"),
         method.info.id);
  }
  PlanRequest request = plan_request(checked, options.set_aside, run.permutation_count());
  request.groups = groups;
  PreparedPlan plan = [&] {
    const ProgressScope progress(control, "preparing");
    const GroupKeysScope group_keys(options.groups.assignment, checked.group_keys);
    return method.prepare(pool, checked.statistic, request);
  }();
  if (options.effect_interval && !plan.effect_interval && !plan.no_interval.empty()) {
    fail(ErrorCode::invalid_option, "{} has no interval for the effect size: {}", method.info.id, plan.no_interval);
  }
  if (options.permute == Permute::groups && plan.grouped == nullptr) {
    fail_option("permute", "groups", fmt::format("rows or auto for method {} with these settings", method.info.id));
  }
  if (plan.grouped != nullptr || plan.rows != pool.order) permutations = permutations_of(checked, pool, plan);
  return {std::move(pool), std::move(positions), std::move(request), std::move(plan), std::move(permutations)};
}

// The outcome of a test; of an aggregate also each of its statistics.
struct RunOutcome {
  TestOutcome test;
  std::vector<AggregatedStatistic> statistics;
  double effect = 0.0;            // statistic of the plan minus its permutation mean
  double permutation_mean = 0.0;  // of the plan
};

void announce(const PreparedTest& prepared, std::string_view id, ThreadCount threads, const RunControl* control) {
  const double seconds = prepared.plan.expected_seconds / static_cast<double>(resolve(threads));
  if (control == nullptr || !control->notice || seconds < kSecondsWorthANotice) return;
  control->notice(render(
      make_warning(WarningId::slow_permutations, id, prepared.request.permutation_count, duration_text(seconds))));
}

// An aggregate has no units: its effect is that of the plan next to it, whose mean a few permutations estimate.
TestOutcome outcome_of_plan(const Plan& plan, const PermutationSource& source, const TestOptions& test) {
  TestOptions few = test;
  few.num_permutations = LabelBatch::kCapacity - 1;
  few.enumeration_limit = 0;
  few.early_stop = EarlyStop::none;
  return permutation_test(plan, source, few, nullptr);
}

RunOutcome run(const Method& method, const CheckedTest& checked, const PreparedTest& prepared,
               const RunControl* control) {
  const PreparedPlan& plan = prepared.plan;
  if (checked.weights_stay) {
    MethodOptions statistic = checked.statistic;
    if (!checked.own_scales) statistic.kernel = plan.frozen.kernel;  // scaled columns have a bandwidth of their own
    PrecisionOutcome outcome = precision_test(method, prepared.pool, statistic, prepared.request, plan,
                                              prepared.positions, checked.test, control);
    return {std::move(outcome.test), std::move(outcome.statistics), outcome.effect, 0.0};
  }
  announce(prepared, method.info.id, checked.statistic.threads, control);
  if (plan.aggregate.bundles.empty()) {
    TestOutcome test = permutation_test(*plan.plan, prepared.permutations, checked.test, control);
    const double mean = test.permutation_mean;
    const double effect = test.statistic - mean;
    return {std::move(test), {}, effect, mean};
  }
  AggregatedOutcome outcome = aggregated_test(plan.aggregate, prepared.permutations, checked.test, control);
  const TestOutcome of_plan = outcome_of_plan(*plan.plan, prepared.permutations, checked.test);
  return {std::move(outcome.test), std::move(outcome.statistics), of_plan.statistic - of_plan.permutation_mean,
          of_plan.permutation_mean};
}

std::vector<Configuration> configurations(const AggregatedPlan& plan, std::span<const AggregatedStatistic> statistics) {
  std::vector<Configuration> list;
  if (statistics.empty()) return list;
  for (const auto& bundle : plan.bundles) {
    for (std::string& name : bundle->names()) {
      const AggregatedStatistic& s = statistics[list.size()];
      list.push_back({std::move(name), s.value, s.score, s.pvalue, s.adjusted_pvalue});
    }
  }
  return list;
}

// Evaluates the observed labels once more.
void name_largest_parts(const AggregatedPlan& plan, const LabelBatch& observed, ThreadCount threads,
                        std::vector<Configuration>& list) {
  std::size_t next = 0;
  for (const auto& bundle : plan.bundles) {
    for (std::string& part : bundle->largest_parts(observed, threads)) list[next++].where = std::move(part);
  }
}

// More directions bring the halves closer together.
void warn_about_directions(std::size_t num_directions, const TestOutcome& test, double alpha, Warnings& warnings) {
  constexpr std::size_t kMoreDirections = 4;
  if (!test.half_pvalues) return;
  const auto [first, second] = *test.half_pvalues;
  if ((first <= alpha) == (second <= alpha)) return;
  warn(warnings, WarningId::decision_depends_on_directions, num_directions, first, second, alpha,
       kMoreDirections * num_directions);
}

TwoSampleResult describe(const Method& method, const CheckedTest& checked, const PreparedTest& prepared,
                         RunOutcome outcome, const TwoSampleOptions& options) {
  const PreparedPlan& plan = prepared.plan;
  TwoSampleResult result;
  result.method = method.info.id;
  result.notes = checked.samples.notes;
  if (checked.weights_stay) warn(result.notes, WarningId::precision_weights);
  result.warnings = checked.warnings;
  append(result.warnings, plan.warnings);
  append(result.warnings, outcome.test.warnings);
  warn_about_directions(plan.num_directions, outcome.test, checked.test.alpha, result.warnings);
  result.test = std::move(outcome.test);
  result.configurations = configurations(plan.aggregate, outcome.statistics);
  LabelBatch observed;
  prepared.permutations.fill(PermutationMode::random, 0, 1, observed);
  if (result.test.reject && !result.configurations.empty() && !checked.weights_stay) {
    name_largest_parts(plan.aggregate, observed, checked.statistic.threads, result.configurations);
  }
  result.kernel = plan.frozen.kernel;
  result.own_scales = checked.own_scales;
  result.num_directions = plan.num_directions;
  result.num_reference = plan.num_reference;
  result.num_set_aside = plan.num_set_aside;
  if (plan.grouped != nullptr) {
    const GroupSizes& sizes = plan.grouped->groups().sizes;
    result.groups = {sizes.rows_per_group, sizes.num_x, sizes.num_y, options.groups};
  }
  result.details = plan.details;
  // The plan next to an aggregate only gives the effect size: its directions are not tested.
  if (plan.per_direction && (plan.num_directions > 0 || options.effect_directions)) {
    result.per_direction = plan.per_direction(observed, checked.statistic.threads);
    result.directions = plan.directions;
  }
  if (!(plan.pooled_scale > 0.0)) return result;
  if (!method.info.effect_words.empty()) {
    result.effect_size = result.test.statistic;
    if (plan.effect_interval) {
      const auto [lower, upper] = plan.effect_interval(checked.test.confidence);
      result.effect_interval = {lower, upper};
    }
    return result;
  }
  result.effect_size = outcome.effect / plan.pooled_scale;
  if (options.effect_interval) {
    const EffectEstimate estimate{result.effect_size, outcome.permutation_mean, plan.pooled_scale, plan.squares};
    const double confidence = checked.test.confidence;
    if (const auto* grouped = dynamic_cast<const GroupedKqdPlan*>(plan.plan.get()); grouped != nullptr) {
      result.effect_interval = group_jackknife(*grouped, observed, estimate, outcome.effect + outcome.permutation_mean,
                                               confidence, checked.statistic.threads);
      return result;
    }
    const std::string_view measured_by = method.info.effect_method;
    const Method& measured = measured_by.empty() ? method : method_with_id(measured_by);
    result.effect_interval =
        effect_interval(measured, plan.frozen, checked.samples.x, checked.samples.y, estimate, confidence);
  }
  return result;
}

TwoSampleResult asymptotic_test(const Method& method, const CheckedTest& checked) {
  AsymptoticResult found = method.asymptotic(checked.samples.x, checked.samples.y, checked.statistic);
  require_finite_statistic(found.result.statistic);
  TwoSampleResult result;
  result.method = method.info.id;
  result.notes = checked.samples.notes;
  result.warnings = checked.warnings;
  // A distance warns about the data first, as the checks did.
  std::ranges::copy_if(found.result.warnings, std::back_inserter(result.warnings), [&](const Warning& warning) {
    return std::ranges::find(checked.warnings, warning) == checked.warnings.end();
  });
  result.test.statistic = found.result.statistic;
  // A tail beyond the smallest number is small, not impossible.
  const double pvalue = std::max(found.pvalue, std::numeric_limits<double>::min());
  result.test.pvalue = result.test.pvalue_lower = result.test.pvalue_upper = pvalue;
  result.test.reject = pvalue <= checked.test.alpha;
  result.kernel = std::move(found.result.kernel);
  result.num_directions = found.result.num_directions;
  result.num_reference = found.result.num_reference;
  result.details = std::move(found.result.details);
  result.limiting_distribution = std::move(found.limiting_distribution);
  return result;
}

}  // namespace

Calibration parse_calibration(std::string_view text) {
  return value_of(kCalibrations, text, "calibration");
}
std::string to_string(Calibration calibration) {
  return std::string(name_of(kCalibrations, calibration));
}

Permute parse_permute(std::string_view text) {
  return value_of(kPermutes, text, "permute");
}
std::string to_string(Permute permute) {
  return std::string(name_of(kPermutes, permute));
}

std::string_view default_test_method(const MethodOptions& statistic) {
  const MethodOptions plain;
  const DirectionOptions& directions = statistic.directions;
  const bool one_statistic =
      directions.family != plain.directions.family || directions.num_directions || directions.num_reference ||
      directions.reference != plain.directions.reference || directions.reference_points.rows() > 0 ||
      directions.coefficients.rows() > 0 || directions.whiten || statistic.power != plain.power ||
      to_string(statistic.weighting) != to_string(plain.weighting) ||
      std::ranges::any_of(compat_flags(), [&](const CompatFlag& flag) { return flag.is_on(statistic); });
  return one_statistic ? "ekqd" : "adaptive";
}

TwoSampleResult two_sample_test(const Method& method, const SampleView& x, const SampleView& y,
                                const TwoSampleOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  const CheckedTest checked = check(method.info, x, y, options);
  if (options.calibration == Calibration::asymptotic) {
    if (options.margin.given()) {
      fail_option("calibration", "asymptotic", "permutation or sign-flip, with a margin for the effect");
    }
    return asymptotic_test(method, checked);
  }
  const PreparedTest prepared = prepare(method, checked, options, control);
  TwoSampleResult result = describe(method, checked, prepared, run(method, checked, prepared, control), options);
  if (options.margin.given()) add_margin(prepared.pool, options, checked.group_keys, control, result);
  return result;
}

TwoSampleResult two_sample_test(const SampleView& x, const SampleView& y, const TwoSampleOptions& options,
                                const RunControl* control) {
  const std::string_view id = options.method.empty() ? default_test_method(options.statistic) : options.method;
  return two_sample_test(method_with_id(id), x, y, options, control);
}

}  // namespace kqd
