#include "two_sample/make_spec.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"
#include "metrics/method.hpp"
#include "profile/row_groups.hpp"

namespace kqd {
namespace {

constexpr std::uint64_t kFewestRows = 40;
constexpr std::uint64_t kMostPilotRows = 20'000;
constexpr std::uint64_t kPilotShare = 10;
constexpr std::size_t kUsualPermutations = 1000;  // for bounds on rounding that a spec is made with
// The largest pilot value of a function has so many bits as a whole number; sixteen times it still fits.
constexpr int kBitsOfSums = 26;
// A bound of a function has so many bits as a whole number.
constexpr int kBitsOfBinSums = 28;

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
      spec_.functions.push_back(
          {.set = *shared.set, .lines = {}, .sums = false, .centres = {}, .exponents = {}, .line_exponents = {}});
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
      statistics.groups = own.groups;
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

// A line for each column that has none so far.
void add_other_columns(ProfileSpec& spec) {
  std::vector<bool> counted(spec.num_columns, false);
  for (const ProfiledFunctions& functions : spec.functions) {
    for (const std::size_t column : columns_of_lines(functions)) counted[column] = true;
  }
  ColumnValues others;
  for (std::size_t k = 0; k < counted.size(); ++k) {
    if (!counted[k]) others.columns.push_back(k);
  }
  if (others.columns.empty()) return;
  const std::size_t count = others.columns.size();
  ProfiledFunctions& added = spec.functions.emplace_back();
  added.set.functions = std::move(others);
  added.lines.resize(count);
}

// Powers of two for sums of values in a bin. Only directions of a bounded kernel have them: no value is then too large
// for a whole number, whatever rows come later.
std::vector<std::int32_t> exponents_of_bins(const ProfiledFunctions& functions) {
  const std::vector<double> bounds = largest_values(functions.set);
  std::vector<std::int32_t> exponents;
  for (std::size_t k = 0; k < functions.lines.size() && !bounds.empty(); ++k) {
    exponents.push_back(
        bounds[k] > 0.0 ? std::clamp(kBitsOfBinSums - std::ilogb(bounds[k]), -kLargestExponent, kLargestExponent) : 0);
  }
  return exponents;
}

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
  ProfiledFunctions& of_effect = spec.functions[spec.effect_functions];
  of_effect.line_exponents = exponents_of_bins(of_effect);
}

}  // namespace

namespace {

std::size_t usual_groups(GroupAssignment assignment) {
  return assignment == GroupAssignment::blocks ? kUsualBlocks : kUsualGroups;
}

}  // namespace

std::uint64_t rows_to_hold_out(std::uint64_t num_rows) {
  return std::min(kMostPilotRows, num_rows / kPilotShare);
}

std::uint64_t rows_per_group_of(const SampleExtent& x, const SampleExtent& y, GroupAssignment assignment) {
  return group_sizes(x.num_rows - rows_to_hold_out(x.num_rows), y.num_rows - rows_to_hold_out(y.num_rows),
                     usual_groups(assignment))
      .rows_per_group;
}

ProfileSpec begin_spec(const ProfileOptions& options) {
  if (options.method != "adaptive" && options.method != "ekqd" && options.method != "supkqd") {
    fail_option("method", options.method, "adaptive, ekqd or supkqd for profiles; other methods need rows");
  }
  ProfileSpec spec;
  spec.seed = options.statistic.seed.value;
  spec.rows_per_group = options.rows_per_group;
  spec.rule = options.groups;
  return spec;
}

void hold_out(ProfileSpec& spec, const SampleExtent& sample) {
  if (sample.num_rows < kFewestRows) {
    fail(ErrorCode::empty_sample, "a profile needs at least {} rows, got {}", kFewestRows, sample.num_rows);
  }
  const HeldOutRows rows{sample, rows_to_hold_out(sample.num_rows)};
  if (spec.rows_per_group == 0) {
    spec.rows_per_group =
        std::max<std::uint64_t>(1, (sample.num_rows - rows.rows) / usual_groups(spec.rule.assignment));
  }
  spec.held_out.insert(std::ranges::lower_bound(spec.held_out, rows), rows);
}

std::shared_ptr<const ProfileSpec> finish_spec(ProfileSpec spec, const Matrix<double>& held_out,
                                               const std::vector<std::string>& column_names,
                                               const ProfileOptions& options) {
  constexpr std::size_t kFewestHeldOut = kFewestRows / kPilotShare;
  if (held_out.rows() < kFewestHeldOut) {
    fail(ErrorCode::empty_sample, "{} rows without missing values could be held out to choose directions, needs {}",
         held_out.rows(), kFewestHeldOut);
  }
  spec.num_columns = held_out.cols();
  spec.column_names = column_names;
  // Which of the rows are X does not matter: nothing that is chosen depends on labels.
  const std::size_t half = held_out.rows() / 2;
  const SampleView x{held_out.view().row_range(0, half), {}};
  const SampleView y{held_out.view().row_range(half, held_out.rows() - half), {}};
  const TestPool pool = make_test_pool(x, y, options.statistic.threads);
  PlanRequest request;
  request.groups = true;
  request.own_scales = options.own_scales;
  request.permutation_count = kUsualPermutations;
  const PreparedPlan plan = method_with_id(options.method).prepare(pool, options.statistic, request);
  SpecBuilder builder(spec, plan.aggregate.weights);
  for (const auto& bundle : plan.aggregate.bundles) builder.add(*bundle);
  spec.effect_functions =
      builder.add_functions(SharedFunctions(set_of(*plan.directions)), plan.directions->count(), false);
  spec.kernel = to_string(plan.frozen.kernel);
  if (options.every_column && !spec.statistics.empty()) add_other_columns(spec);
  fit_grids_and_scales(spec, held_out, options.statistic.threads);
  return std::make_shared<const ProfileSpec>(std::move(spec));
}

}  // namespace kqd
