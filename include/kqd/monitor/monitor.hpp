#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/encoding.hpp"
#include "kqd/monitor/alarm.hpp"
#include "kqd/monitor/change_point.hpp"
#include "kqd/profile/profile.hpp"
#include "kqd/testing/pvalue.hpp"
#include "kqd/two_sample/profile_test.hpp"

namespace kqd KQD_PUBLIC {

/// The batches that a batch is compared with.
enum class BaselineKind {
  fixed,    ///< the baseline that the monitor began with
  rolling,  ///< the last batches; the baseline as long as there are none
};
struct BaselineRule {
  BaselineKind kind = BaselineKind::fixed;
  std::size_t num_batches = 0;  ///< of a rolling baseline; of a fixed one those it was made of, 0: it is an input

  friend bool operator==(const BaselineRule&, const BaselineRule&) = default;
};

/// Reads "fixed", "first:4", "previous" or "rolling:8". Throws Error{invalid_option}.
[[nodiscard]] BaselineRule parse_baseline_rule(std::string_view text);
[[nodiscard]] std::string to_string(const BaselineRule& rule);

/// The adjustment of the p-values of all batches.
enum class Adjustment {
  benjamini_hochberg,  ///< of the batches that are called different, the expected share of false ones is at most alpha
  holm,                ///< the probability that any batch is called different falsely is at most alpha
};
[[nodiscard]] Adjustment parse_adjustment(std::string_view text);
[[nodiscard]] std::string to_string(Adjustment adjustment);

/// Options of a Monitor. The defaults suit most data.
struct MonitorOptions {
  /// Method, significance level, number of permutations and seed of the test of a batch. num_permutations = 0: 999, or
  /// as many as the adjusted p-value of a single batch needs to reach alpha.
  TwoSampleOptions test = {.test = {.num_permutations = 0}};
  Adjustment adjustment = Adjustment::benjamini_hochberg;
  BaselineRule baseline = {};
  AlarmOptions alarm = {};
};

/// A column of a batch. Of a category, and of missing values, it is the level whose share differs most.
struct MonitoredColumn {
  std::string name;
  std::string level = {};        ///< "(missing)" for the share of missing values; empty: the values of a number
  double effect = 0.0;           ///< Wasserstein distance to the baseline in pooled standard deviations
  double shift = 0.0;            ///< median of the batch minus that of the baseline; with a level, of its share
  double pvalue_adjusted = 1.0;  ///< for all columns of the batch
};

/// Two columns whose relation differs though neither is called different by itself.
struct MonitoredRelation {
  std::string first;
  std::string second;
  double score = 0.0;            ///< how extreme the difference of their mean product is, in standard deviations
  double pvalue_adjusted = 1.0;  ///< for all pairs that were examined
};

/// A batch judged by the margin of the test (TwoSampleOptions::margin).
struct BatchMargin {
  double pvalue_beyond = 1.0;    ///< of H0: effect <= margin
  double pvalue_within = 1.0;    ///< of H0: effect >= margin
  double adjusted_beyond = 1.0;  ///< for all batches so far
  double adjusted_within = 1.0;
  Verdict verdict = Verdict::undecided;  ///< by the adjusted p-values
};

/// Where the rows of a monitor come from: kept for those who read them.
struct MonitorSource {
  std::string baseline_name = {};
  std::vector<std::string> baseline_inputs = {};  ///< names of the batches that the baseline was made of
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< options that were set in the beginning
  std::optional<TableEncoding> encoding = {};  ///< how tables become numbers; unset: they are numbers
};

/// A batch and how it compares.
struct MonitorEntry {
  std::string name;
  std::uint64_t num_rows = 0;
  double statistic = 0.0;
  double pvalue = 1.0;
  double pvalue_adjusted = 1.0;  ///< for all batches so far
  bool reject = false;           ///< pvalue_adjusted <= alpha
  double effect_size = 0.0;
  std::optional<Interval> effect_interval = {};
  std::optional<BatchMargin> margin = {};  ///< then the effect size is DifferenceSize::effect
  std::string changed = {};  ///< the column, relation or direction that differs most; empty: none by itself
  std::vector<MonitoredColumn> columns = {};      ///< by name
  std::vector<MonitoredRelation> relations = {};  ///< those that differ, at most 5, strongest first
  /// By rank among all batches: independent and uniform while batches are exchangeable. Unset: the batch has too few
  /// rows to count for the alarm.
  std::optional<double> alarm_pvalue = {};
  double evidence = 1.0;  ///< of the alarm, after this batch
  Warnings warnings = {};
};

/// A baseline and its batches, one after another: which batches differ, since when, and in what?
///
/// Each batch is tested against the baseline, and p-values are adjusted for all batches. The alarm compares batches
/// with each other and may be looked at after every batch (Alarm); batches are its units, so rows within a batch may
/// depend on each other. Only counts are kept, no rows: a batch takes about 80 kB with 10 columns.
/// docs/design/0011-monitor.md.
class Monitor {
 public:
  /// Begins with the profile of a baseline, whose groups are small enough for batches (monitored_group_rows()). Throws
  /// Error{invalid_option} for a part of a sample.
  explicit Monitor(Profile baseline, MonitorOptions options = {});

  /// Adds a batch that was counted like the baseline. An error changes nothing. Throws Error{shape_mismatch,
  /// invalid_option, empty_sample}.
  const MonitorEntry& update(const std::string& name, const Profile& batch, const RunControl* control = nullptr);
  /// The same with the rows of the batch, and their keys unless they are assigned to groups at random.
  const MonitorEntry& update(const std::string& name, const Sample& batch, const RunControl* control = nullptr,
                             std::span<const std::uint64_t> keys = {});

  [[nodiscard]] const MonitorSource& source() const { return source_; }
  void set_source(MonitorSource source) { source_ = std::move(source); }
  /// Changes the speed, not one bit of the result.
  void set_threads(ThreadCount threads) { options_.test.statistic.threads = threads; }
  /// The name is that of a batch or of an input of the baseline.
  [[nodiscard]] bool knows(std::string_view name) const;

  [[nodiscard]] const Profile& baseline() const { return baseline_; }
  [[nodiscard]] const MonitorOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<MonitorEntry>& entries() const { return entries_; }
  [[nodiscard]] const Alarm& alarm() const { return alarm_; }
  /// The entry at which the alarm was raised.
  [[nodiscard]] std::optional<std::size_t> raised_at() const;
  /// The change among the batches, in numbers of entries: once the alarm is raised, or where a permutation test of
  /// equal batches finds one (ChangePoint::pvalue <= alpha), which is a test for one look at all batches. Else none.
  [[nodiscard]] std::optional<ChangePoint> change_point() const;
  /// About all batches: neighbours that are alike, so that units are too short for the alarm.
  [[nodiscard]] Warnings warnings() const;

  /// A file with everything that the next batch needs. It appears complete or not at all. Equal monitors are equal
  /// files. Throws Error{unwritable_output, unreadable_input}.
  void save(const std::string& path) const;
  [[nodiscard]] static Monitor load(const std::string& path);
  [[nodiscard]] std::string serialize() const;
  /// Throws Error{unreadable_input} for bytes that are not a valid state.
  [[nodiscard]] static Monitor deserialize(std::string_view bytes);

 private:
  [[nodiscard]] std::int64_t num_permutations() const;
  void compare(const Profile& reference, const Profile& batch, const RunControl* control, MonitorEntry& entry) const;
  void adjust();
  void watch(const Profile& batch, MonitorEntry& entry);
  [[nodiscard]] Matrix<double> unit_features(std::size_t count) const;

  Profile baseline_;
  MonitorOptions options_;
  MonitorSource source_;
  std::vector<MonitorEntry> entries_;
  std::deque<Profile> recent_;   // whole batches of a rolling baseline
  std::string packed_baseline_;  // as in the file
  std::deque<std::string> packed_recent_;
  std::vector<std::string> packed_units_;
  std::uint64_t groups_per_unit_ = 0;      // of a batch, for the alarm; 0: not known yet
  std::vector<Profile> units_;             // those batches as one group each
  std::vector<std::size_t> unit_entries_;  // the entry of each unit
  Alarm alarm_;
};

/// Rows of a group so that batches of about `batch_rows` rows have enough groups: a 32nd of them, or a 128th of the
/// baseline if that is less.
[[nodiscard]] std::uint64_t monitored_group_rows(std::uint64_t baseline_rows, std::uint64_t batch_rows);

}  // namespace kqd
