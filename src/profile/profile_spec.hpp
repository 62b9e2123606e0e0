#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/profile/profile.hpp"
#include "profile/function_set.hpp"
#include "profile/line_grid.hpp"
#include "quantiles/gap_weight.hpp"

namespace kqd {

/// Functions of a row and what is kept of them: counts along the first ones, and sums of all.
struct ProfiledFunctions {
  FunctionSet set;
  std::vector<LineGrid> lines;  ///< of the first functions
  bool sums = false;
  /// Of each function that is summed: (value - centre) 2^exponent is rounded to a whole number of at most 2^30.
  std::vector<double> centres;
  std::vector<std::int32_t> exponents;
  /// Of each line whose values are summed per bin, for the interval of a distance: value 2^exponent is rounded to a
  /// whole number of at most 2^30. Empty: none is.
  std::vector<std::int32_t> line_exponents;
};

/// The columns of the data that the lines are along; empty: they are along something else.
[[nodiscard]] std::vector<std::size_t> columns_of_lines(const ProfiledFunctions& functions);

/// A statistic with its weight in the aggregate: GapSummary of gaps, MeanSummary of means.
struct WeightedForm {
  std::uint8_t form = 0;
  double weight = 0.0;
};

/// Statistics of gaps along lines, or of differences of means.
struct ProfiledStatistics {
  std::string name;
  std::uint32_t functions = 0;  ///< index of ProfiledFunctions
  bool of_means = false;
  GapWeight gap_weight = GapWeight::size;
  std::vector<WeightedForm> forms;
  std::uint32_t group_size = 1;            ///< of means: functions that are neighbours and count together
  std::vector<FunctionGroup> groups = {};  ///< of means that are compared by groups of any size
  std::vector<double> variances;           ///< of means: the pooled variance of each function
  std::vector<double> mean_squared_sizes;  ///< of means: of the terms that values are added from
};

/// Rows of a sample that are in no group: those with the first places (RowPlaces). With keys about as many.
struct HeldOutRows {
  SampleExtent sample;
  std::uint64_t rows = 0;

  friend auto operator<=>(const HeldOutRows&, const HeldOutRows&) = default;
};

/// Everything that decides how a row is counted, and which statistics are tested.
struct ProfileSpec {
  std::uint64_t num_columns = 0;
  std::vector<std::string> column_names;
  std::uint64_t seed = 0;
  std::uint64_t rows_per_group = 1;
  GroupRule rule;
  std::vector<HeldOutRows> held_out;   ///< by sample: rows that the spec was made from, which are in no group
  std::string kernel;                  ///< of the e-KQD that the effect size comes from
  std::uint32_t effect_functions = 0;  ///< its directions
  std::vector<ProfiledFunctions> functions;
  std::vector<ProfiledStatistics> statistics;  ///< of the adaptive test; empty: the spec is for e-KQD only

  /// Rows of the sample that are held out.
  [[nodiscard]] std::uint64_t rows_held_out(const SampleExtent& sample) const;
};

/// Exponents of ProfiledFunctions are between minus this and this, so that the power of two is a normal number.
inline constexpr std::int32_t kLargestExponent = 1022;

/// The bytes of a spec, and back. `what` names the source in errors.
[[nodiscard]] std::string spec_bytes(const ProfileSpec& spec);
[[nodiscard]] ProfileSpec read_spec(std::string_view bytes);
/// 32 hexadecimal digits that follow from the bytes of a spec.
[[nodiscard]] std::string spec_id_of(std::string_view bytes);

/// Rows [first, last) of a sample.
struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// The rows of one sample in a profile.
struct ProfilePart {
  SampleExtent sample;
  std::vector<RowSource> sources;  ///< its parts, if they were named
  std::vector<RowRange> rows;      ///< ascending, apart from each other
  std::uint64_t num_groups = 0;
  /// Rows counted in each group, and in the last element those in no group. The last row of the matrices below is of
  /// the latter.
  std::vector<std::uint32_t> group_rows;
  std::vector<Matrix<std::uint32_t>> counts;   ///< of each line of all functions: (group, bin)
  std::vector<Matrix<std::int64_t>> sums;      ///< of each set of functions: (group, function); empty: none
  std::vector<Matrix<std::int64_t>> bin_sums;  ///< of each set of functions: (line, bin), of all rows; empty: none
};

/// Rows of one sample in a profile; larger ones are profiled in parts that are samples of their own.
inline constexpr std::uint64_t kMostRowsOfSample = 0xffffffff;

/// True if all rows of the sample were read.
[[nodiscard]] bool is_complete(const ProfilePart& part);

/// Compares all counts and sums of two parts of the same extent, added up over groups: 0 for the same rows, however
/// their groups were added up.
[[nodiscard]] std::strong_ordering compare_totals(const ProfilePart& a, const ProfilePart& b);

/// A profile without rows, for one sample.
[[nodiscard]] ProfilePart empty_part(const ProfileSpec& spec, const SampleExtent& sample, std::uint64_t factor);

struct CountedFunctions;
class RowCounter;

struct Profile::State {
  std::string spec_bytes;
  std::uint64_t factor = 1;  ///< groups were added up, so many at a time
  /// By sample. Several have one extent only if all are complete and have different totals, in the order of these:
  /// files of the same name, size and number of rows that hold other values.
  std::vector<ProfilePart> parts;
  std::shared_ptr<const CountedFunctions> functions = {};  ///< of the spec, once rows were counted
};

/// The inside of a profile, for the test.
struct ProfileAccess {
  [[nodiscard]] static const Profile::State& state(const Profile& profile) { return *profile.state_; }
  static Profile make(std::shared_ptr<const ProfileSpec> spec, Profile::State state);
  /// A counter for all rows of a sample, none of which is in the profile yet; they count as read from now on.
  [[nodiscard]] static RowCounter counter(Profile& profile, const SampleExtent& sample);
  /// Everything but the spec, and a profile by the spec of another one from it.
  [[nodiscard]] static std::string bytes_of_rows(const Profile& profile);
  [[nodiscard]] static Profile with_rows(const Profile& like, std::string_view bytes, const ProfileLimits& limits = {});
  /// Rows that are in both profiles, in words; empty: none.
  [[nodiscard]] static std::string rows_in_both(const Profile& x, const Profile& y);
};

/// Groups of a sample, before groups are added up. `num_rows` of the whole sample.
[[nodiscard]] std::uint64_t groups_of_sample(const ProfileSpec& spec, const SampleExtent& sample);

/// How many groups are added up to one because a profile has many samples: the smallest power of two with which they
/// have at most kMostGroups groups together, while the sample with most groups keeps 8 at least. It follows from the
/// set of samples, and more samples never need less; so profiles that are merged in any tree have the same groups.
[[nodiscard]] std::uint64_t groups_at_a_time(const ProfileSpec& spec, std::span<const SampleExtent> samples);

}  // namespace kqd
