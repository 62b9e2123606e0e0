#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/profile/group_rule.hpp"
#include "kqd/testing/pvalue.hpp"

namespace kqd KQD_PUBLIC {

/// The noise of a squared distance between two mean vectors, from groups of rows (docs/design/0010-does-it-matter.md).
struct EffectMoments {
  double squared = 0.0;  ///< |difference of the means|^2, with its noise
  double noise = 0.0;    ///< its expectation where the means are equal: the trace of the covariance S of the difference
  double noise_square = 0.0;  ///< the trace of S^2
  double along = 0.0;         ///< variance of the difference along itself
  double groups = 2.0;        ///< of the sample with fewer of them
};

/// One way in which two samples differ: in the values of single columns, in their shape, or in relations of columns.
struct EffectAspect {
  std::string name;  ///< "location", "shape" or "relations"
  /// Square root of the unbiased squared effect, with its sign: below 0 by noise only.
  double effect = 0.0;
  Interval interval;  ///< as that of all aspects
  EffectMoments moments;
};

/// How far two samples are apart, in a unit that does not depend on the number of columns: 0.1 is as far as a shift of
/// one column by 0.1 of its standard deviations.
struct DifferenceSize {
  double effect = 0.0;  ///< of the aspect with the largest lower limit, the first one where all are 0
  Interval interval;    ///< for the largest effect of all aspects, at `confidence`
  double confidence = 0.95;
  std::vector<EffectAspect> aspects;
  /// The probability that a row of Y looks more like Y than a row of X does, to a rule fitted on other rows: 0.5 where
  /// it cannot tell them apart. Unset if it was not asked for, and for profiles.
  std::optional<double> separation;
  Interval separation_interval;
  std::size_t num_x = 0;  ///< rows that took part
  std::size_t num_y = 0;
  std::size_t num_groups_x = 0;  ///< groups that the noise is estimated from
  std::size_t num_groups_y = 0;
  bool has_relations = false;  ///< false for one column, for more than kMostRelatedColumns, and for profiles
};

/// Relations between columns are measured up to this number of columns.
inline constexpr std::size_t kMostRelatedColumns = 128;

/// Options of difference_size().
struct DifferenceSizeOptions {
  double confidence = 0.95;
  bool separation = true;  ///< fit the rule that tells rows apart
  Seed seed = {};
  ThreadCount threads = {};
  GroupAssignment assignment = GroupAssignment::random;
  std::span<const std::uint64_t> group_keys = {};  ///< of the rows of X, then of Y, unless at random
};

/// The size of the difference between two samples. Rows may have weights; they are independent, or their groups are.
/// Same result for any order of the rows within a sample and any number of threads. Cost: O(n d log n), and O(n d^2)
/// for relations. Throws Error{empty_sample} for fewer than 4 rows of a sample, and what validate_pair() throws.
[[nodiscard]] DifferenceSize difference_size(const SampleView& x, const SampleView& y,
                                             const DifferenceSizeOptions& options = {},
                                             const RunControl* control = nullptr);

/// The answer to "do they differ by more than the margin?"
enum class Verdict {
  different,   ///< the effect is larger than the margin
  equivalent,  ///< the effect is smaller than the margin
  undecided,   ///< neither can be said: more rows are needed
};
[[nodiscard]] std::string to_string(Verdict verdict);

/// The question that a margin is for. Both kinds give the same verdict; they differ in what a gate lets pass.
enum class MarginKind {
  none,
  tolerance,   ///< H0: effect <= margin. A gate fails only where the samples are different
  equivalent,  ///< H0: effect >= margin. A gate passes only where the samples are equivalent
};

/// A margin for the effect, as options give it.
struct MarginOptions {
  MarginKind kind = MarginKind::none;
  double margin = 0.0;  ///< > 0, unless `from_batches`
  /// The margin is what reference batches differ from X by: MarginResult::batch_effects.
  bool from_batches = false;
  std::vector<double> batch_effects = {};  ///< of each reference batch against X: DifferenceSize::effect

  [[nodiscard]] bool given() const { return kind != MarginKind::none; }
};

/// An effect judged by a margin.
struct MarginResult {
  MarginKind kind = MarginKind::none;
  double margin = 0.0;
  Verdict verdict = Verdict::undecided;
  double pvalue_beyond = 1.0;  ///< of H0: effect <= margin; of batches: the rank of the effect among theirs
  double pvalue_within = 1.0;  ///< of H0: effect >= margin
  /// Where undecided: about how many rows of X and Y a verdict needs with probability 0.8 if the effect is as
  /// estimated; unset if more than 10,000 times as many.
  std::optional<std::uint64_t> rows_needed;
  std::vector<double> batch_effects;  ///< of reference batches against X
  std::string basis;                  ///< what is exact and what is asymptotic
};

/// Judges an effect by a margin > 0. Each of both statements is wrong with probability alpha at most where the samples
/// are large; together too, because at most one of them can be wrong.
[[nodiscard]] MarginResult judge(const DifferenceSize& size, MarginKind kind, double margin, double alpha);

/// Judges an effect by those of reference batches against the same X. With 1 / alpha - 1 batches or more the margin is
/// an order statistic of theirs, and "different" is exact: if the new batch is exchangeable with the reference batches,
/// its probability is at most alpha. With fewer the margin is a prediction limit for normal effects. Needs 2 batches.
[[nodiscard]] MarginResult judge_by_batches(const DifferenceSize& size, MarginKind kind,
                                            std::vector<double> batch_effects, double alpha);

}  // namespace kqd
