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
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/data_warnings.hpp"
#include "metrics/method.hpp"
#include "metrics/quantile/grouped_kqd_plan.hpp"
#include "profile/keyed_permutation.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_groups.hpp"
#include "testing/aggregated_test.hpp"

namespace kqd {
namespace {

constexpr std::size_t kFewestRows = 40;
constexpr std::size_t kMostPilotRows = 20'000;
constexpr std::size_t kPilotShare = 10;
constexpr std::size_t kUsualPermutations = 1000;  // for bounds on rounding that a spec is made with
// The largest pilot value of a function has so many bits as a whole number; sixteen times it still fits.
constexpr int kBitsOfSums = 26;
constexpr std::uint64_t kKeyOfRows = 0x452821e638d01377ULL;

// ---- Making a spec ----

// The rows of a sample whose places come first.
Matrix<double> pilot_rows(MatrixView<const double> points, const SampleExtent& extent, std::uint64_t seed,
                          std::size_t count) {
  const KeyedPermutation place(extent.num_rows, Seed{seed}, extent.id);
  Matrix<double> pilot(count, points.cols());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const std::uint64_t at = place(i);
    if (at < count) std::ranges::copy(points.row(i), pilot.row(at).begin());
  }
  return pilot;
}

// All functions of a set at the pilot rows, one row per function.
Matrix<double> at_pilot(const FunctionSet& set, const Matrix<double>& pilot, ThreadCount threads) {
  const RowFunctions functions = make_functions(set);
  Matrix<double> lines(functions->count, pilot.rows());
  parallel_for_blocks(pilot.rows(), kFeatureRows, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> values(end - begin, functions->count);
    functions->evaluate(pilot.view().row_range(begin, end - begin), values);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t k = 0; k < values.cols(); ++k) lines(k, i) = values(i - begin, k);
    }
  });
  return lines;
}

FunctionSet set_of(const Directions& directions) {
  if (const auto* of_kernel = dynamic_cast<const KernelDirections*>(&directions)) {
    return {.functions = KernelFunctions{.kernel = of_kernel->kernel().spec(),
                                         .points = Matrix<double>(of_kernel->reference()),
                                         .coefficients = Matrix<double>(of_kernel->coefficients())}};
  }
  // u_i(x) = w_i . x is the linear kernel with points w_1..w_l and unit coefficients.
  const auto& linear = dynamic_cast<const LinearDirections&>(directions);
  KernelFunctions functions{.kernel = linear.kernel().spec(),
                            .points = Matrix<double>(linear.weights()),
                            .coefficients = Matrix<double>(linear.count(), linear.count(), 0.0)};
  for (std::size_t i = 0; i < linear.count(); ++i) functions.coefficients(i, i) = 1.0;
  return {.functions = std::move(functions)};
}

// The spec under construction. Statistics of the same functions share them.
class SpecBuilder {
 public:
  SpecBuilder(ProfileSpec& spec, std::span<const double> weights) : spec_(spec), weights_(weights) {}

  void add(const StatisticBundle& bundle) {
    if (const auto* directional = dynamic_cast<const DirectionalBundle*>(&bundle)) return add_lines(*directional);
    if (const auto* means = dynamic_cast<const MeanBundle*>(&bundle)) return add_means(*means);
    fail(ErrorCode::internal, "a statistic of the adaptive test has no form for profiles");
  }

  std::uint32_t add_functions(const SharedFunctions& shared, std::size_t num_lines, bool sums) {
    auto [found, is_new] = indices_.try_emplace(shared.map.get(), static_cast<std::uint32_t>(spec_.functions.size()));
    if (is_new)
      spec_.functions.push_back({.set = *shared.set, .lines = {}, .sums = false, .centres = {}, .exponents = {}});
    ProfiledFunctions& functions = spec_.functions[found->second];
    functions.lines.resize(std::max(functions.lines.size(), num_lines));
    functions.sums = functions.sums || sums;
    return found->second;
  }

 private:
  void add_lines(const DirectionalBundle& bundle) {
    const BundleDirections& directions = bundle.directions();
    ProfiledStatistics statistics;
    statistics.name = directions.name;
    statistics.functions = add_functions(directions.functions, directions.count, false);
    statistics.gap_weight = bundle.gap_weight();
    for (const GapSummary summary : bundle.summaries()) {
      statistics.forms.push_back({static_cast<std::uint8_t>(summary), weights_[next_weight_++]});
    }
    spec_.statistics.push_back(std::move(statistics));
  }

  void add_means(const MeanBundle& bundle) {
    std::size_t first = 0;
    for (const MeanFeatures& own : bundle.features()) {
      ProfiledStatistics statistics;
      statistics.name = own.name;
      statistics.of_means = true;
      statistics.functions = add_functions(own.functions, 0, true);
      statistics.group_size = static_cast<std::uint32_t>(own.group_size);
      for (const MeanSummary summary : own.statistics) {
        statistics.forms.push_back({static_cast<std::uint8_t>(summary), weights_[next_weight_++]});
      }
      // Rounding may leave less than nothing of a function of one value.
      for (const double variance : own.variances) statistics.variances.push_back(std::max(0.0, variance));
      const auto sizes = std::span(bundle.mean_squared_sizes()).subspan(first, own.count);
      statistics.mean_squared_sizes.assign(sizes.begin(), sizes.end());
      spec_.statistics.push_back(std::move(statistics));
      first += own.count;
    }
  }

  ProfileSpec& spec_;
  std::span<const double> weights_;
  std::size_t next_weight_ = 0;
  std::map<const FeatureMap*, std::uint32_t> indices_;
};

void fit_grids_and_scales(ProfileSpec& spec, const Matrix<double>& pilot, ThreadCount threads) {
  for (ProfiledFunctions& functions : spec.functions) {
    Matrix<double> values = at_pilot(functions.set, pilot, threads);
    if (functions.sums) {
      for (std::size_t k = 0; k < values.rows(); ++k) {
        const auto row = values.row(k);
        const double centre = sum(row) / static_cast<double>(row.size());
        double largest = 0.0;
        for (const double v : row) largest = std::max(largest, std::abs(v - centre));
        functions.centres.push_back(centre);
        functions.exponents.push_back(
            largest > 0.0 ? std::clamp(kBitsOfSums - 1 - std::ilogb(largest), -kLargestExponent, kLargestExponent) : 0);
      }
    }
    parallel_for_blocks(functions.lines.size(), 1, threads,
                        [&](std::size_t k, std::size_t) { functions.lines[k] = make_line_grid(values.row(k)); });
  }
}

std::shared_ptr<const ProfileSpec> make_spec(const Sample& sample, const SampleExtent& extent,
                                             const ProfileOptions& options) {
  const std::size_t n = sample.points.rows();
  if (n < kFewestRows) {
    fail(ErrorCode::empty_sample, "a profile needs at least {} rows, got {}", kFewestRows, n);
  }
  auto spec = std::make_shared<ProfileSpec>();
  spec->num_columns = sample.points.cols();
  spec->column_names = sample.column_names;
  spec->seed = options.statistic.seed.value;
  spec->pilot_sample = extent;
  spec->pilot_rows = std::min(kMostPilotRows, n / kPilotShare);
  spec->rows_per_group = options.rows_per_group > 0 ? options.rows_per_group
                                                    : std::max<std::size_t>(1, (n - spec->pilot_rows) / kUsualGroups);
  const Matrix<double> pilot = pilot_rows(sample.points, extent, spec->seed, spec->pilot_rows);
  // Which of the pilot rows are X does not matter: nothing that is chosen depends on labels.
  const std::size_t half = pilot.rows() / 2;
  const SampleView x{pilot.view().row_range(0, half), {}};
  const SampleView y{pilot.view().row_range(half, pilot.rows() - half), {}};
  const TestPool pool = make_test_pool(x, y, options.statistic.threads);
  PlanRequest request;
  request.groups = true;
  request.own_scales = true;
  request.permutation_count = kUsualPermutations;
  const PreparedPlan plan = method_with_id("adaptive").prepare(pool, options.statistic, request);
  SpecBuilder builder(*spec, plan.aggregate.weights);
  for (const auto& bundle : plan.aggregate.bundles) builder.add(*bundle);
  spec->effect_functions =
      builder.add_functions(SharedFunctions(set_of(*plan.directions)), plan.directions->count(), false);
  spec->kernel = to_string(plan.frozen.kernel);
  fit_grids_and_scales(*spec, pilot, options.statistic.threads);
  return spec;
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

// ---- Testing ----

// A number that follows from all counts and sums of a profile.
std::uint64_t fingerprint(const Profile& profile) {
  std::uint64_t value = 0;
  for (const char c : spec_id_of(profile.serialize()).substr(0, 16)) {
    value = value * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  return value;
}

Seed permutation_seed(const Profile& x, const Profile& y, Seed seed) {
  const auto [low, high] = std::minmax({fingerprint(x), fingerprint(y)});
  RandomStream stream(Seed{seed.value ^ low}, Purpose::permutations, high);
  return Seed{stream.bits64()};
}

// Units of both profiles in random order, and the group of (X, Y) at each position.
struct Units {
  std::shared_ptr<const GroupedData> data;
  std::vector<std::size_t> order;
  std::vector<std::size_t> first_lines;  // of each set of functions
};

Units units_of(const Profile& x, const Profile& y, Seed seed) {
  const ProfileSpec& spec = *x.spec();
  struct Group {
    const ProfilePart* part;
    std::size_t number;
  };
  std::vector<Group> groups;
  for (const Profile* profile : {&x, &y}) {
    for (const ProfilePart& part : ProfileAccess::state(*profile).parts) {
      for (std::size_t g = 0; g < part.num_groups; ++g) groups.push_back({&part, g});
    }
  }
  Units units;
  units.order.resize(groups.size());
  std::iota(units.order.begin(), units.order.end(), std::size_t{0});
  RandomStream stream(seed, Purpose::group_assignment);
  for (std::size_t left = groups.size(); left > 1; --left) {
    std::swap(units.order[left - 1], units.order[static_cast<std::size_t>(stream.below(left))]);
  }
  auto data = std::make_shared<GroupedData>();
  data->num_units = groups.size();
  data->rows_per_unit = x.rows_per_group();
  for (std::size_t set = 0; set < spec.functions.size(); ++set) {
    const ProfiledFunctions& functions = spec.functions[set];
    units.first_lines.push_back(data->lines.size());
    for (const LineGrid& grid : functions.lines) {
      const std::size_t line = data->lines.size();
      GroupedLine& grouped = data->lines.emplace_back();
      grouped.grid = grid;
      grouped.counts = Matrix<std::uint32_t>(groups.size(), grid.num_bins());
      for (std::size_t u = 0; u < groups.size(); ++u) {
        const Group& group = groups[units.order[u]];
        std::ranges::copy(group.part->counts[line].row(group.number), grouped.counts.row(u).begin());
      }
    }
    Matrix<double>& means = data->unit_means.emplace_back(groups.size(), functions.sums ? functions.set.count() : 0);
    for (std::size_t u = 0; u < groups.size() && functions.sums; ++u) {
      const Group& group = groups[units.order[u]];
      const auto sums = group.part->sums[set].row(group.number);
      for (std::size_t k = 0; k < sums.size(); ++k) {
        means(u, k) = std::ldexp(static_cast<double>(sums[k]), -functions.exponents[k]);
      }
    }
    centre_unit_means(means, data->rows_per_unit);
  }
  units.data = std::move(data);
  return units;
}

AggregatedPlan aggregate_of(const ProfileSpec& spec, const Units& units, std::size_t permutation_count) {
  AggregatedPlan plan;
  std::vector<MeanFeatures> features;
  std::vector<std::size_t> unit_means;
  std::vector<double> sizes;
  std::vector<double> weights_of_means;
  for (const ProfiledStatistics& statistics : spec.statistics) {
    if (statistics.of_means) {
      MeanFeatures own{.name = statistics.name,
                       .count = statistics.variances.size(),
                       .functions = {},
                       .statistics = {},
                       .variances = statistics.variances,
                       .group_size = statistics.group_size};
      for (const WeightedForm& form : statistics.forms) {
        own.statistics.push_back(static_cast<MeanSummary>(form.form));
        weights_of_means.push_back(form.weight);
      }
      features.push_back(std::move(own));
      unit_means.push_back(statistics.functions);
      sizes.insert(sizes.end(), statistics.mean_squared_sizes.begin(), statistics.mean_squared_sizes.end());
      continue;
    }
    std::vector<GapSummary> summaries;
    for (const WeightedForm& form : statistics.forms) {
      summaries.push_back(static_cast<GapSummary>(form.form));
      plan.weights.push_back(form.weight);
    }
    const std::size_t count = spec.functions[statistics.functions].lines.size();
    plan.bundles.push_back(std::make_unique<DirectionalBundle>(BundleDirections{statistics.name, count, {}},
                                                               std::move(summaries), statistics.gap_weight, units.data,
                                                               units.first_lines[statistics.functions]));
  }
  if (!features.empty()) {
    plan.bundles.push_back(std::make_unique<MeanBundle>(std::move(features), units.data, std::move(unit_means),
                                                        std::move(sizes), permutation_count));
    plan.weights.insert(plan.weights.end(), weights_of_means.begin(), weights_of_means.end());
  }
  const double total = std::accumulate(plan.weights.begin(), plan.weights.end(), 0.0);
  for (double& weight : plan.weights) weight /= total;
  return plan;
}

void require_comparable(const Profile& x, const Profile& y) {
  if (x.spec_id() != y.spec_id()) {
    fail(ErrorCode::shape_mismatch, "the profiles were made by different specs, {} and {}: make one like the other",
         x.spec_id(), y.spec_id());
  }
  if (x.rows_per_group() != y.rows_per_group()) {
    fail(ErrorCode::shape_mismatch, "the profiles have groups of {} and {} rows, expected the same size",
         x.rows_per_group(), y.rows_per_group());
  }
  for (const Profile* profile : {&x, &y}) {
    profile->require_complete();
    if (profile->num_groups() == 0) {
      fail(ErrorCode::empty_sample, "a profile of {} rows has no group of {} rows", profile->num_rows(),
           profile->rows_per_group());
    }
  }
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
  const SampleExtent extent = sample_extent(sample);
  Profile profile(make_spec(sample, extent, options));
  profile.update(extent, sample.points, 0, options.statistic.threads);
  return profile;
}

Profile make_profile(const Sample& sample, const Profile& like, ThreadCount threads, const RunControl* control) {
  const StopScope stoppable(control);
  require_plain(sample);
  const Matrix<double> points = in_order_of(like, sample);
  Profile profile(like.spec());
  profile.coarsen(like.rows_per_group() / profile.rows_per_group());
  profile.update(sample_extent(SampleView{points, {}}), points, 0, threads);
  return profile;
}

TwoSampleResult two_sample_test(const Profile& x, const Profile& y, const TwoSampleOptions& options,
                                const RunControl* control) {
  const StopScope stoppable(control);
  require_comparable(x, y);
  const std::string method =
      options.method.empty() ? std::string(default_test_method(options.statistic)) : options.method;
  if (method != "adaptive" && method != "ekqd" && method != "supkqd") {
    fail_option("method", method, "adaptive, ekqd or supkqd for profiles; other methods need rows");
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
  const Units units = units_of(x, y, seed);
  const ProfileSpec& spec = *x.spec();
  const PermutationSource source(Design::independent(), {x.num_groups(), y.num_groups()}, units.order, seed);
  const std::size_t num_directions = spec.functions[spec.effect_functions].lines.size();
  const Over over = method == "supkqd" ? Over::maximum : Over::mean;
  const GroupedKqdPlan effect(units.data, units.first_lines[spec.effect_functions], num_directions,
                              method == "adaptive" ? MethodOptions{} : options.statistic, over);
  TwoSampleResult result;
  result.method = method;
  result.kernel = parse_kernel(spec.kernel);
  result.groups = {x.rows_per_group(), x.num_groups(), y.num_groups()};
  double beyond = 0.0;
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
    const TestOutcome of_effect = permutation_test(effect, source, few, nullptr);
    beyond = of_effect.statistic - of_effect.permutation_mean;
  } else {
    result.test = permutation_test(effect, source, test, control);
    beyond = result.test.statistic - result.test.permutation_mean;
    result.num_directions = num_directions;
    LabelBatch observed;
    source.fill(PermutationMode::random, 0, 1, observed);
    result.per_direction = effect.per_direction(observed, test.threads);
  }
  append(result.warnings, result.test.warnings);
  if (effect.pooled_scale() > 0.0) result.effect_size = beyond / effect.pooled_scale();
  return result;
}

}  // namespace kqd
