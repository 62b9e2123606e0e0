#include "kqd/two_sample/two_sample_test.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/finite.hpp"
#include "core/names.hpp"
#include "kqd/metrics/methods.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/feasible.hpp"
#include "metrics/quantile/kqd_plan.hpp"
#include "metrics/test_pool.hpp"
#include "testing/aggregated_test.hpp"
#include "testing/permutation_run.hpp"
#include "two_sample/effect_interval.hpp"
#include "two_sample/precision_test.hpp"
#include "two_sample/test_samples.hpp"

namespace kqd {
namespace {

constexpr std::array<Name<Calibration>, 3> kCalibrations = {{
    {Calibration::permutation, "permutation"},
    {Calibration::sign_flip, "sign-flip"},
    {Calibration::asymptotic, "asymptotic"},
}};

constexpr std::array<Name<EarlyStop>, 3> kEarlyStops = {{
    {EarlyStop::none, "none"},
    {EarlyStop::besag_clifford, "besag-clifford"},
    {EarlyStop::betting, "betting"},
}};

// The design whose permutations the test draws from: swaps within pairs when it is calibrated by sign flips.
Design calibrated_design(const TwoSampleOptions& options, const MethodInfo& method, SampleSizes sizes) {
  if (options.calibration != Calibration::sign_flip) return options.test.design;
  if (!method.sign_flip) {
    fail(ErrorCode::invalid_option, "calibration sign-flip is not valid for {}, expected permutation", method.id);
  }
  if (sizes.x != sizes.y) {
    fail(ErrorCode::invalid_option, "calibration sign-flip needs samples of equal size, got {} and {}", sizes.x,
         sizes.y);
  }
  if (options.test.design.kind != DesignKind::independent && options.test.design.kind != DesignKind::paired) {
    fail(ErrorCode::invalid_option, "calibration sign-flip goes with the independent and the paired design only");
  }
  return Design::paired();
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  std::ranges::copy(more, std::back_inserter(to));
}

// A sentence before work that cannot be shortened and takes a while.
void announce(const PreparedPlan& prepared, const MethodInfo& method, std::size_t permutation_count,
              const MethodOptions& options, const RunControl* control) {
  constexpr double kWorthSaying = 10.0;
  const double seconds = prepared.expected_seconds / static_cast<double>(resolve(options.threads));
  if (control == nullptr || !control->notice || seconds < kWorthSaying) return;
  control->notice(fmt::format("{} has no shortcut and computes each of {} permutations again: about {}", method.id,
                              permutation_count, duration_text(seconds)));
}

std::vector<Configuration> configurations(const AggregatedPlan& plan, std::span<const AggregatedStatistic> statistics) {
  std::vector<Configuration> list;
  for (const auto& bundle : plan.bundles) {
    for (std::string& name : bundle->names()) {
      const AggregatedStatistic& s = statistics[list.size()];
      list.push_back({std::move(name), s.value, s.score, s.pvalue, s.adjusted_pvalue});
    }
  }
  return list;
}

// An aggregate has no units: its effect is that of the plan next to it, whose mean a few permutations estimate.
TestOutcome outcome_of_plan(const Plan& plan, const PermutationSource& source, const TestOptions& test) {
  TestOptions few = test;
  few.num_permutations = LabelBatch::kCapacity - 1;
  few.enumeration_limit = 0;
  few.early_stop = EarlyStop::none;
  return permutation_test(plan, source, few, nullptr);
}

// What weights that stay at their positions go with.
void require_positions(const TwoSampleOptions& options) {
  const DesignKind design = options.test.design.kind;
  if (design == DesignKind::clusters || options.calibration != Calibration::permutation) {
    fail(ErrorCode::invalid_option,
         "--weights-as precision goes with calibration permutation and the independent, paired and blocks designs, got "
         "{}",
         design == DesignKind::clusters ? "clusters" : to_string(options.calibration));
  }
}

TwoSampleResult asymptotic_test(const MethodInfo& method, const SampleView& x, const SampleView& y,
                                const TwoSampleOptions& options) {
  if (method.asymptotic == nullptr) {
    fail(ErrorCode::invalid_option, "calibration asymptotic is not known for {}, expected one of {}", method.id,
         method.calibrations);
  }
  if (options.test.design.kind != DesignKind::independent) {
    fail(ErrorCode::invalid_option, "calibration asymptotic goes with the independent design only");
  }
  TwoSampleResult result;
  AsymptoticResult found = method.asymptotic(x, y, options.statistic);
  append(result.warnings, found.result.warnings);
  require_finite_statistic(found.result.statistic);
  result.test.statistic = found.result.statistic;
  // A tail beyond the smallest number is small, not impossible.
  const double pvalue = std::max(found.pvalue, std::numeric_limits<double>::min());
  result.test.pvalue = result.test.pvalue_lower = result.test.pvalue_upper = pvalue;
  result.test.reject = pvalue <= options.test.alpha;
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
EarlyStop parse_early_stop(std::string_view text) {
  return value_of(kEarlyStops, text, "early-stop");
}
std::string to_string(EarlyStop rule) {
  return std::string(name_of(kEarlyStops, rule));
}

std::string_view default_test_method(const MethodOptions& statistic, bool kernel_values_only) {
  const MethodOptions plain;
  const DirectionOptions& directions = statistic.directions;
  const bool one_statistic =
      kernel_values_only || directions.family != plain.directions.family ||
      directions.num_directions != plain.directions.num_directions || directions.num_reference ||
      directions.reference != plain.directions.reference || directions.reference_points.rows() > 0 ||
      directions.coefficients.rows() > 0 || directions.whiten || statistic.power != plain.power ||
      to_string(statistic.weighting) != to_string(plain.weighting) ||
      std::ranges::any_of(compat_flags(), [&](const CompatFlag& flag) { return flag.is_on(statistic); });
  return one_statistic ? "ekqd" : "adaptive";
}

TwoSampleResult two_sample_test(const SampleView& x_given, const SampleView& y_given, const TwoSampleOptions& options,
                                const RunControl* control) {
  const StopScope stoppable(control);
  const MethodInfo& method = find_method(options.method);
  MethodOptions statistic = options.statistic;
  TestOptions test = options.test;
  if (statistic.max_memory > 0) {
    test.max_label_memory = statistic.max_memory / 4;
    statistic.max_memory -= test.max_label_memory;
  }
  test.threads = statistic.threads;
  validate(statistic);
  validate_parameters(method, statistic.parameters);
  validate(test);
  validate_pair(x_given, y_given, statistic.threads);
  require_weights(x_given, y_given, options.weights_as);
  test.design = calibrated_design(options, method, {x_given.size(), y_given.size()});
  // A limiting distribution exchanges nothing.
  const bool no_exchange = options.calibration == Calibration::asymptotic && options.weights_as == WeightsAs::checked;
  const Seed of_data = pool_seed(x_given, y_given, statistic);  // before any row is dropped
  const TestSamples samples =
      make_test_samples(x_given, y_given, test.design, no_exchange ? WeightsAs::frequency : options.weights_as, of_data,
                        statistic.threads);
  const SampleView& x = samples.x;
  const SampleView& y = samples.y;
  const SampleSizes sizes{x.size(), y.size()};
  test.design = samples.design;
  const bool by_position = options.weights_as == WeightsAs::precision && (x.weighted() || y.weighted());
  if (by_position) require_positions(options);
  std::vector<std::string> about_data = samples.warnings;
  if (method.uses.points) {
    check_reference_points(statistic.directions.reference_points, x, y, statistic.seed, statistic.threads);
  }
  warn_about_scales({x.points, y.points}, about_data);
  if (test.design.kind != DesignKind::clusters) {
    warn_about_copies(x, "X", about_data);
    warn_about_copies(y, "Y", about_data);
  }
  if (options.calibration == Calibration::asymptotic) {
    TwoSampleResult result = asymptotic_test(method, x, y, options);
    result.notes = samples.notes;
    append(result.warnings, about_data);
    return result;
  }

  TwoSampleResult result;
  result.notes = samples.notes;
  warn_about_data(x, y, result.warnings);
  append(result.warnings, about_data);
  TestPool pool = make_test_pool(x, y, of_data, statistic.threads);
  const std::vector<std::size_t> positions = pool.order;
  if (by_position) {
    // The order of rows must not depend on which weights they were observed with.
    pool.order = make_test_pool({x.points, {}}, {y.points, {}}, statistic.seed, statistic.threads).order;
    result.notes.emplace_back(
        "precision weights: permutations exchange rows and leave the weights where they are; exact for weights that do "
        "not depend on the values");
  }
  // Before any row is set aside: what estimates of time count with.
  const PermutationSource of_all_rows(test.design, sizes, pool.order, pool.permutation_seed);
  const PermutationRun all_rows_run(of_all_rows, static_cast<std::uint64_t>(test.num_permutations),
                                    test.enumeration_limit);
  const std::size_t permutation_count = all_rows_run.permutation_count();
  if (test.early_stop != EarlyStop::none && method.distance == nullptr && !all_rows_run.enumerated()) {
    fail(ErrorCode::invalid_option,
         "early stopping needs a method with one statistic, {} combines several; add --method ekqd", method.id);
  }
  const DesignKind design = test.design.kind;
  const PlanRequest request{
      .set_aside = options.set_aside,
      .swaps_only = design == DesignKind::paired,
      .bound_rows = design == DesignKind::blocks || design == DesignKind::clusters,
      .permutation_count = permutation_count,
      .whole_units = [&](std::span<const std::size_t> rows) { return whole_units(test.design, sizes, rows); }};
  const PreparedPlan prepared = [&] {
    const ProgressScope progress(control, "preparing");
    return method.prepare(pool, statistic, request);
  }();
  if (options.effect_interval && !prepared.no_interval.empty()) {
    fail(ErrorCode::invalid_option, "{} has no interval for the effect size: {}", method.id, prepared.no_interval);
  }
  if (!by_position) announce(prepared, method, permutation_count, statistic, control);
  append(result.warnings, prepared.warnings);
  const PermutationSource source(test.design, sizes, prepared.rows, pool.permutation_seed);
  TestOutcome of_plan;  // what the effect size comes from, in the units of the plan
  if (by_position) {
    statistic.kernel = prepared.frozen.kernel;
    PrecisionOutcome outcome = precision_test(method, pool, statistic, request, prepared, positions, test, control);
    result.test = std::move(outcome.test);
    if (!outcome.statistics.empty()) result.configurations = configurations(prepared.aggregate, outcome.statistics);
    of_plan.statistic = outcome.effect;
  } else if (prepared.aggregate.bundles.empty()) {
    result.test = permutation_test(*prepared.plan, source, test, control);
    of_plan.statistic = result.test.statistic;
    of_plan.permutation_mean = result.test.permutation_mean;
  } else {
    AggregatedOutcome outcome = aggregated_test(prepared.aggregate, source, test, control);
    result.test = std::move(outcome.test);
    result.configurations = configurations(prepared.aggregate, outcome.statistics);
    of_plan = outcome_of_plan(*prepared.plan, source, test);
  }
  append(result.warnings, result.test.warnings);

  result.kernel = prepared.frozen.kernel;
  result.num_directions = prepared.num_directions;
  result.num_reference = prepared.num_reference;
  result.num_set_aside = prepared.num_set_aside;
  result.details = prepared.details;
  if (prepared.pooled_scale > 0.0) {
    result.effect_size = (of_plan.statistic - of_plan.permutation_mean) / prepared.pooled_scale;
  }
  const auto* plan = dynamic_cast<const DirectionalPlan*>(prepared.plan.get());
  // The plan next to an aggregate gives the effect size only: its directions are not what was tested.
  if (plan != nullptr && (prepared.num_directions > 0 || options.effect_directions)) {
    LabelBatch observed;
    source.fill(PermutationMode::random, 0, 1, observed);
    result.per_direction = plan->per_direction(observed, 0, statistic.threads);
    result.directions = prepared.directions;
  }
  if (options.effect_interval && prepared.pooled_scale > 0.0) {
    const MethodInfo& measured = method.effect_method.empty() ? method : find_method(method.effect_method);
    const EffectEstimate estimate{result.effect_size, of_plan.permutation_mean, prepared.pooled_scale,
                                  prepared.squares};
    result.effect_interval = effect_interval(measured, prepared.frozen, x, y, estimate, test.confidence);
  }
  return result;
}

}  // namespace kqd
