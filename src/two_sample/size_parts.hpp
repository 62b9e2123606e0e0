#pragma once
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/two_sample/margin.hpp"
#include "kqd/two_sample/two_sample_test.hpp"
#include "metrics/test_pool.hpp"
#include "profile/row_groups.hpp"
#include "two_sample/column_scores.hpp"
#include "two_sample/profile_units.hpp"

namespace kqd {

inline constexpr std::size_t kFewestRowsOfSize = 4;

/// Sums of functions over the rows of each group. Rows of X come first.
struct UnitSums {
  std::string name;
  Matrix<double> sums;  ///< (group, function)
};

/// The groups that sums belong to.
struct SizeUnits {
  std::vector<double> weights;  ///< of all rows of a group
  std::vector<char> is_x;
};

/// The difference of the means of the functions, with what is known about its noise. Throws Error{empty_sample} for
/// fewer than 2 groups of a sample.
[[nodiscard]] EffectMoments moments_of(const SizeUnits& units, const Matrix<double>& sums, ThreadCount threads);

/// The unbiased effect with its sign.
[[nodiscard]] double effect_of(const EffectMoments& moments);

/// Estimates and interval of the size from its aspects.
void summarise_aspects(DifferenceSize& size);

/// difference_size() of a pool whose groups are made already.
[[nodiscard]] DifferenceSize size_of_groups(const TestPool& pool, const RowGroups& groups,
                                            const DifferenceSizeOptions& options, const RunControl* control);

/// Measures the difference of two samples that a test has checked, and judges it by the margin of its options. Throws
/// Error{invalid_option} where it cannot be measured.
void add_margin(const TestPool& pool, const TwoSampleOptions& options, std::span<const std::uint64_t> group_keys,
                const RunControl* control, TwoSampleResult& result);

/// Sets the effect size of a result to the size of the difference, judged by the margin of its options.
void add_margin(DifferenceSize size, const TwoSampleOptions& options, TwoSampleResult& result);

/// The scores of every column of a pool, from at most 65,536 rows of each sample.
[[nodiscard]] std::vector<ColumnScores> scores_of_columns(const TestPool& pool, Seed seed, ThreadCount threads);

/// The size of the difference between two profiles, from the counts of their groups along the columns: location and
/// shape. Throws Error{invalid_option} for a spec that does not count along every column.
[[nodiscard]] DifferenceSize size_of_profiles(const ProfileSpec& spec, const ProfileUnits& units, double confidence,
                                              ThreadCount threads);

/// Fits a rule that tells rows apart on one half of the groups, and applies it to rows of the other half; sets
/// DifferenceSize::separation and its interval.
void measure_separation(const TestPool& pool, const RowGroups& groups, std::span<const ColumnScores> scores,
                        const SizeUnits& units, std::span<const UnitSums> sums, ThreadCount threads,
                        DifferenceSize& size);

}  // namespace kqd
