#include "kqd/two_sample/profile_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/hash.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "core/warning.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/method.hpp"
#include "metrics/quantile/grouped_kqd_plan.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"
#include "profile/row_places.hpp"
#include "testing/aggregated_test.hpp"
#include "two_sample/group_jackknife.hpp"
#include "two_sample/make_spec.hpp"
#include "two_sample/profile_aggregate.hpp"
#include "two_sample/profile_units.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFewestPilotRows = 4;
constexpr std::uint64_t kKeyOfRows = 0x452821e638d01377ULL;

// ---- Making a spec ----

// The rows of a sample whose places come first.
Matrix<double> pilot_rows(MatrixView<const double> points, const ProfileSpec& spec, const SampleExtent& extent,
                          std::span<const std::uint64_t> keys) {
  const RowPlaces place(spec, extent);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const std::uint64_t at = place(i, keys.empty() ? 0 : keys[i]);
    if (at < place.num_held_out()) drawn.emplace_back(at, i);
  }
  if (drawn.size() < kFewestPilotRows) {
    fail(ErrorCode::empty_sample,
         "groups by {}: {} rows could be held out to choose directions and grids, needs {}: there are too few "
         "different keys",
         to_string(spec.rule), drawn.size(), kFewestPilotRows);
  }
  std::ranges::sort(drawn);
  Matrix<double> pilot(drawn.size(), points.cols());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    std::ranges::copy(points.row(drawn[i].second), pilot.row(i).begin());
  }
  return pilot;
}

std::shared_ptr<const ProfileSpec> make_spec(const Sample& sample, const SampleExtent& extent,
                                             const ProfileOptions& options) {
  ProfileSpec spec = begin_spec(options);
  hold_out(spec, extent);
  const Matrix<double> pilot = pilot_rows(sample.points, spec, extent, options.keys);
  return finish_spec(std::move(spec), pilot, sample.column_names, options);
}

// ---- Columns ----

// The points of a sample with columns in the order of the profile.
Matrix<double> in_order_of(const Profile& like, const Sample& sample) {
  const auto& names = like.column_names();
  if (names.empty() || sample.column_names.empty()) return Matrix<double>(sample.points.view());
  Matrix<double> points(sample.points.rows(), names.size());
  if (sample.column_names.size() != names.size()) {
    fail(ErrorCode::shape_mismatch, "the sample has {} columns, the profile has {}", sample.column_names.size(),
         names.size());
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto found = std::ranges::find(sample.column_names, names[k]);
    if (found == sample.column_names.end()) {
      fail(ErrorCode::shape_mismatch, "the sample has no column \"{}\", which the profile has",
           no_references(names[k]));
    }
    const auto from = static_cast<std::size_t>(found - sample.column_names.begin());
    for (std::size_t i = 0; i < points.rows(); ++i) points(i, k) = sample.points(i, from);
  }
  return points;
}

void require_plain(const Sample& sample) {
  if (!sample.weights.empty()) fail(ErrorCode::invalid_weights, "a profile takes no weights");
  validate(SampleView(sample), "the sample");
}

void require_keys(const Sample& sample, const ProfileOptions& options) {
  const bool needed = options.groups.assignment != GroupAssignment::random;
  const std::size_t expected = needed ? sample.points.rows() : 0;
  if (options.keys.size() == expected) return;
  fail(ErrorCode::shape_mismatch, "groups by {} need {} keys, got {}", to_string(options.groups), expected,
       options.keys.size());
}

}  // namespace

SampleExtent sample_extent(const SampleView& sample) {
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) id += hash_values(sample.points.row(i), kKeyOfRows);
  return {id, sample.size()};
}

Profile make_profile(const Sample& sample, const ProfileOptions& options, const RunControl* control) {
  const StopScope stoppable(control);
  require_plain(sample);
  require_keys(sample, options);
  const SampleExtent extent = sample_extent(sample);
  Profile profile(make_spec(sample, extent, options));
  profile.update(extent, RowBlock{.rows = sample.points, .keys = options.keys}, options.statistic.threads);
  return profile;
}

Profile make_profile(const Sample& sample, const Profile& like, ThreadCount threads, const RunControl* control,
                     std::span<const std::uint64_t> keys) {
  const StopScope stoppable(control);
  require_plain(sample);
  const Matrix<double> points = in_order_of(like, sample);
  Profile profile = like.without_rows();
  profile.update(sample_extent(SampleView{points, {}}), RowBlock{.rows = points, .keys = keys}, threads);
  return profile;
}

DifferenceSize difference_size(const Profile& x, const Profile& y, const DifferenceSizeOptions& options) {
  require_comparable(x, y);
  const ProfileUnits units = units_of(x, y, permutation_seed(x, y, options.seed));
  return size_of_profiles(*x.spec(), units, options.confidence, options.threads);
}

TwoSampleResult two_sample_test(const Profile& x, const Profile& y, const TwoSampleOptions& options,
                                const RunControl* control) {
  const StopScope stoppable(control);
  require_comparable(x, y);
  if (const std::string rows = ProfileAccess::rows_in_both(x, y); !rows.empty()) {
    fail(ErrorCode::invalid_option, "{} are in both samples, expected samples without rows in common", rows);
  }
  const bool has_statistics = !x.spec()->statistics.empty();
  const std::string_view usual = has_statistics ? default_test_method(options.statistic) : "ekqd";
  const std::string method = options.method.empty() ? std::string(usual) : options.method;
  if (method != "adaptive" && method != "ekqd" && method != "supkqd") {
    fail_option("method", method, "adaptive, ekqd or supkqd for profiles; other methods need rows");
  }
  if (method == "adaptive" && !has_statistics) {
    fail_option("method", method, "ekqd or supkqd, because the profiles were made for these");
  }
  if (options.permute == Permute::rows)
    fail_option("permute", "rows", "groups or auto for profiles, which have no rows");
  if (options.test.design.kind != DesignKind::independent || options.calibration != Calibration::permutation) {
    fail(ErrorCode::invalid_option, "profiles need an independent design and permutations");
  }
  TestOptions test = options.test;
  test.threads = options.statistic.threads;
  validate(test);
  const Seed seed = permutation_seed(x, y, options.statistic.seed);
  const ProfileUnits units = units_of(x, y, seed);
  const ProfileSpec& spec = *x.spec();
  const PermutationSource source(Design::independent(), {units.num_x, units.num_y}, units.order, seed);
  const std::size_t num_directions = spec.functions[spec.effect_functions].lines.size();
  const Over over = method == "supkqd" ? Over::maximum : Over::mean;
  const GroupedKqdPlan effect(units.data, units.first_lines[spec.effect_functions], num_directions,
                              method == "adaptive" ? MethodOptions{} : options.statistic, over);
  TwoSampleResult result;
  result.method = method;
  result.kernel = parse_kernel(spec.kernel);
  result.groups = {units.rows_per_unit, units.num_x, units.num_y, x.group_rule()};
  for (const Profile* profile : {&x, &y}) {
    for (const SampleExtent& sample : profile->samples()) result.num_set_aside += spec.rows_held_out(sample);
  }
  LabelBatch observed;
  source.fill(PermutationMode::random, 0, 1, observed);
  TestOutcome of_effect;
  if (method == "adaptive") {
    const AggregatedPlan plan = aggregate_of(spec, units, static_cast<std::size_t>(test.num_permutations) + 1);
    AggregatedOutcome outcome = aggregated_test(plan, source, test, control);
    result.test = std::move(outcome.test);
    std::size_t next = 0;
    for (const auto& bundle : plan.bundles) {
      for (std::string& name : bundle->names()) {
        const AggregatedStatistic& s = outcome.statistics[next++];
        result.configurations.push_back({std::move(name), s.value, s.score, s.pvalue, s.adjusted_pvalue});
      }
    }
    TestOptions few = test;
    few.num_permutations = LabelBatch::kCapacity - 1;
    few.enumeration_limit = 0;
    of_effect = permutation_test(effect, source, few, nullptr);
  } else {
    result.test = of_effect = permutation_test(effect, source, test, control);
    result.num_directions = num_directions;
    result.per_direction = effect.per_direction(observed, test.threads);
  }
  append(result.warnings, result.test.warnings);
  if (options.margin.given()) {
    add_margin(size_of_profiles(spec, units, test.confidence, test.threads), options, result);
    return result;
  }
  if (!(effect.pooled_scale() > 0.0)) return result;
  result.effect_size = (of_effect.statistic - of_effect.permutation_mean) / effect.pooled_scale();
  if (options.effect_interval) {
    const EffectEstimate estimate{result.effect_size, of_effect.permutation_mean, effect.pooled_scale(), false};
    result.effect_interval =
        group_jackknife(effect, observed, estimate, of_effect.statistic, test.confidence, test.threads);
  }
  return result;
}

}  // namespace kqd
