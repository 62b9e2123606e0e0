#include "kqd/monitor/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "core/warning.hpp"
#include "kqd/explain/profile_explain.hpp"
#include "monitor/changes.hpp"
#include "monitor/conformal.hpp"
#include "monitor/packed_profile.hpp"
#include "profile/profile_spec.hpp"

namespace kqd {
namespace {

constexpr std::int64_t kUsualPermutations = 999;
constexpr std::size_t kMostPermutations = 99'999;
constexpr std::uint64_t kGroupsOfBatch = 32;
constexpr std::uint64_t kGroupsOfBaseline = 128;
// Batches with fewer rows than this share of the first one do not count for the alarm, whose units have equal sizes.
constexpr double kUnitShare = 0.8;
constexpr std::size_t kMostFeatures = 64;
constexpr std::size_t kFewestForNeighbours = 10;
constexpr double kNeighbourLevel = 0.01;
constexpr std::size_t kFewestForChange = 4;

// The first so many groups of a batch as one, without what only whole batches need; nothing if it has fewer.
Profile first_group(const Profile& batch, std::uint64_t groups) {
  Profile unit = batch;
  unit.coarsen(groups);
  auto state = ProfileAccess::state(unit);
  const bool there =
      !state.parts.empty() && state.parts.front().num_groups > 0 && state.parts.front().group_rows.front() > 0;
  if (!there) return Profile(batch.spec());
  for (ProfilePart& part : state.parts) {
    part.group_rows.back() = 0;
    for (auto& counts : part.counts) std::ranges::fill(counts.row(part.num_groups), 0U);
    for (auto& sums : part.sums) {
      if (sums.rows() > 0) std::ranges::fill(sums.row(part.num_groups), 0);
    }
    for (auto& sums : part.bin_sums) std::ranges::fill(sums.values(), 0);
  }
  return ProfileAccess::make(batch.spec(), std::move(state));
}

}  // namespace

BaselineRule parse_baseline_rule(std::string_view text) {
  const auto number = [&](std::string_view prefix) -> std::size_t {
    const auto value = parse_number(text.substr(prefix.size()));
    constexpr double kMost = 10'000.0;
    if (value && *value >= 1.0 && *value <= kMost && *value == std::floor(*value)) {
      return static_cast<std::size_t>(*value);
    }
    fail_option("baseline", text, fmt::format("{}N with a whole number N from 1 to 10000", prefix));
  };
  if (text == "fixed") return {};
  if (text == "previous") return {BaselineKind::rolling, 1};
  if (text.starts_with("first:")) return {BaselineKind::fixed, number("first:")};
  if (text.starts_with("rolling:")) return {BaselineKind::rolling, number("rolling:")};
  fail_option("baseline", text, "fixed, first:N, previous or rolling:N");
}

std::string to_string(const BaselineRule& rule) {
  if (rule.kind == BaselineKind::rolling) {
    return rule.num_batches == 1 ? "previous" : fmt::format("rolling:{}", rule.num_batches);
  }
  return rule.num_batches == 0 ? "fixed" : fmt::format("first:{}", rule.num_batches);
}

Adjustment parse_adjustment(std::string_view text) {
  if (text == "benjamini-hochberg") return Adjustment::benjamini_hochberg;
  if (text == "holm") return Adjustment::holm;
  fail_option("adjust", text, "benjamini-hochberg or holm");
}

std::string to_string(Adjustment adjustment) {
  return adjustment == Adjustment::holm ? "holm" : "benjamini-hochberg";
}

std::uint64_t monitored_group_rows(std::uint64_t baseline_rows, std::uint64_t batch_rows) {
  return std::max<std::uint64_t>(1, std::min(baseline_rows / kGroupsOfBaseline, batch_rows / kGroupsOfBatch));
}

Monitor::Monitor(Profile baseline, MonitorOptions options)
    : baseline_(std::move(baseline)), options_(std::move(options)), alarm_(options_.alarm) {
  baseline_.require_complete();
  packed_baseline_ = compressed(baseline_.serialize());
  if (options_.test.margin.from_batches) {
    fail_option("tolerance", "auto", "a number > 0 for a monitor, whose batches are not all there yet");
  }
}

// With m batches an adjusted p-value is at least m / (1 + B) when a single batch differs.
std::int64_t Monitor::num_permutations() const {
  const TestOptions& test = options_.test.test;
  if (test.num_permutations > 0) return test.num_permutations;
  const double needed = std::ceil(static_cast<double>(entries_.size() + 1) / test.alpha);
  return std::clamp(static_cast<std::int64_t>(needed), kUsualPermutations,
                    static_cast<std::int64_t>(kMostPermutations));
}

bool Monitor::knows(std::string_view name) const {
  const auto& inputs = source_.baseline_inputs;
  return std::ranges::find(entries_, name, &MonitorEntry::name) != entries_.end() ||
         std::ranges::find(inputs, name) != inputs.end();
}

const MonitorEntry& Monitor::update(const std::string& name, const Sample& batch, const RunControl* control,
                                    std::span<const std::uint64_t> keys) {
  return update(name, make_profile(batch, baseline_, options_.test.statistic.threads, control, keys), control);
}

const MonitorEntry& Monitor::update(const std::string& name, const Profile& batch, const RunControl* control) {
  if (std::ranges::find(entries_, name, &MonitorEntry::name) != entries_.end()) {
    fail(ErrorCode::invalid_option, "batch \"{}\" is there already, expected a new name", no_references(name));
  }
  MonitorEntry entry{.name = name, .num_rows = batch.num_rows()};
  if (recent_.empty()) {
    compare(baseline_, batch, control, entry);
  } else {
    Profile reference = recent_.front();
    for (std::size_t k = 1; k < recent_.size(); ++k) reference.merge(recent_[k]);
    compare(reference, batch, control, entry);
  }
  watch(batch, entry);
  entries_.push_back(std::move(entry));
  adjust();
  if (options_.baseline.kind == BaselineKind::rolling) {
    recent_.push_back(batch);
    packed_recent_.push_back(packed_rows(batch));
    if (recent_.size() > options_.baseline.num_batches) {
      recent_.pop_front();
      packed_recent_.pop_front();
    }
  }
  return entries_.back();
}

// Tests a batch and finds out what changed.
void Monitor::compare(const Profile& reference, const Profile& batch, const RunControl* control,
                      MonitorEntry& entry) const {
  TwoSampleOptions test = options_.test;
  test.test.num_permutations = num_permutations();
  test.effect_interval = true;
  const TwoSampleResult result = two_sample_test(reference, batch, test, control);
  entry.statistic = result.test.statistic;
  entry.pvalue = result.test.pvalue;
  entry.effect_size = result.effect_size;
  entry.effect_interval = result.effect_interval;
  entry.warnings = result.warnings;
  if (result.margin) {
    entry.margin =
        BatchMargin{.pvalue_beyond = result.margin->pvalue_beyond, .pvalue_within = result.margin->pvalue_within};
  }
  ExplainOptions where;
  where.alpha = test.test.alpha;
  where.seed = test.statistic.seed;
  where.threads = test.statistic.threads;
  where.relations_of_profiles = true;
  describe_change(explain(reference, batch, where, control), source_.encoding, entry);
}

// Units have as many groups as most of the first batch.
void Monitor::watch(const Profile& batch, MonitorEntry& entry) {
  const std::uint64_t groups =
      groups_per_unit_ > 0
          ? groups_per_unit_
          : static_cast<std::uint64_t>(std::max(1.0, kUnitShare * static_cast<double>(batch.num_groups())));
  const std::uint64_t rows_per_unit =
      units_.empty() ? groups * batch.rows_per_group() : units_.front().rows_per_group();
  if (rows_per_unit % batch.rows_per_group() != 0) {
    fail(ErrorCode::shape_mismatch, "the batch has groups of {} rows, expected a part of {}, as of other batches",
         batch.rows_per_group(), rows_per_unit);
  }
  Profile unit = first_group(batch, rows_per_unit / batch.rows_per_group());
  if (unit.samples().empty()) {
    groups_per_unit_ = groups;
    warn(entry.warnings, WarningId::batch_too_small, entry.num_rows, rows_per_unit);
    entry.evidence = alarm_.size() == 0 ? 1.0 : alarm_.evidence().back();
    return;
  }
  std::string packed = packed_rows(unit);
  units_.push_back(std::move(unit));
  try {
    entry.alarm_pvalue = conformal_pvalue(units_, options_.test.statistic.seed, options_.test.statistic.threads);
  } catch (...) {
    units_.pop_back();
    throw;
  }
  groups_per_unit_ = groups;
  packed_units_.push_back(std::move(packed));
  unit_entries_.push_back(entries_.size());
  alarm_.add(*entry.alarm_pvalue);
  entry.evidence = alarm_.evidence().back();
}

void Monitor::adjust() {
  const auto adjusted = [&](const auto& pvalue_of) {
    std::vector<double> pvalues;
    for (const MonitorEntry& entry : entries_) pvalues.push_back(pvalue_of(entry));
    return options_.adjustment == Adjustment::holm ? holm_adjusted(pvalues) : benjamini_hochberg_adjusted(pvalues);
  };
  const double alpha = options_.test.test.alpha;
  const std::vector<double> of_test = adjusted([](const MonitorEntry& entry) { return entry.pvalue; });
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    entries_[k].pvalue_adjusted = of_test[k];
    entries_[k].reject = of_test[k] <= alpha;
  }
  if (!options_.test.margin.given()) return;
  const auto margin_of = [](const MonitorEntry& entry) { return entry.margin.value_or(BatchMargin{}); };
  const std::vector<double> beyond = adjusted([&](const MonitorEntry& e) { return margin_of(e).pvalue_beyond; });
  const std::vector<double> within = adjusted([&](const MonitorEntry& e) { return margin_of(e).pvalue_within; });
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    if (!entries_[k].margin) continue;
    BatchMargin& margin = *entries_[k].margin;
    margin.adjusted_beyond = beyond[k];
    margin.adjusted_within = within[k];
    margin.verdict = beyond[k] <= alpha   ? Verdict::different
                     : within[k] <= alpha ? Verdict::equivalent
                                          : Verdict::undecided;
  }
}

std::optional<std::size_t> Monitor::raised_at() const {
  if (!alarm_.raised_at()) return std::nullopt;
  return unit_entries_[*alarm_.raised_at()];
}

// The mean of the first units along lines of the spec, each in units of its spread over the units.
Matrix<double> Monitor::unit_features(std::size_t count) const {
  std::vector<const LineGrid*> grids;
  for (const ProfiledFunctions& functions : baseline_.spec()->functions) {
    for (const LineGrid& grid : functions.lines) grids.push_back(&grid);
  }
  const std::size_t step = (grids.size() + kMostFeatures - 1) / kMostFeatures;
  Matrix<double> features(count, (grids.size() + step - 1) / step);
  for (std::size_t k = 0; k < features.cols(); ++k) {
    const LineGrid& grid = *grids[k * step];
    double mean = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto counts = ProfileAccess::state(units_[i]).parts.front().counts[k * step].row(0);
      double rows = 0.0;
      double total = 0.0;
      for (std::size_t b = 0; b < counts.size(); ++b) {
        rows += counts[b];
        total += counts[b] * grid.values[b];
      }
      features(i, k) = total / rows;
      mean += features(i, k) / static_cast<double>(count);
    }
    double variance = 0.0;
    for (std::size_t i = 0; i < count; ++i) variance += (features(i, k) - mean) * (features(i, k) - mean);
    const double scale = variance > 0.0 ? 1.0 / std::sqrt(variance / static_cast<double>(count)) : 0.0;
    for (std::size_t i = 0; i < count; ++i) features(i, k) = (features(i, k) - mean) * scale;
  }
  return features;
}

std::optional<ChangePoint> Monitor::change_point() const {
  if (units_.size() < (alarm_.raised_at() ? 2 : kFewestForChange)) return std::nullopt;
  const Matrix<double> features = unit_features(units_.size());
  const double alpha = options_.test.test.alpha;
  if (!alarm_.raised_at() && change_pvalue(features) > alpha) return std::nullopt;
  ChangePoint found = kqd::change_point(features, 1.0 - alpha, options_.test.statistic.threads);
  found.start = unit_entries_[found.start];
  for (std::size_t& start : found.likely) start = unit_entries_[start];
  return found;
}

Warnings Monitor::warnings() const {
  Warnings found;
  // Batches after a change are like their neighbours as well.
  const std::size_t before = alarm_.raised_at() ? most_likely_start(unit_features(units_.size())) : units_.size();
  if (before >= kFewestForNeighbours) {
    if (const double pvalue = neighbour_pvalue(unit_features(before)); pvalue <= kNeighbourLevel) {
      warn(found, WarningId::neighbours_alike, before, pvalue);
    }
  }
  return found;
}

}  // namespace kqd
