#pragma once
#include <array>
#include <cstdint>
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
};

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
  std::vector<double> variances;           ///< of means: the pooled variance of each function
  std::vector<double> mean_squared_sizes;  ///< of means: of the terms that values are added from
};

/// Everything that decides how a row is counted, and which statistics are tested.
struct ProfileSpec {
  std::uint64_t num_columns = 0;
  std::vector<std::string> column_names;
  std::uint64_t seed = 0;
  std::uint64_t rows_per_group = 1;
  SampleExtent pilot_sample;           ///< the sample that the spec was made from
  std::uint64_t pilot_rows = 0;        ///< of it, which are in no group
  std::string kernel;                  ///< of the e-KQD that the effect size comes from
  std::uint32_t effect_functions = 0;  ///< its directions
  std::vector<ProfiledFunctions> functions;
  std::vector<ProfiledStatistics> statistics;
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
  std::vector<RowRange> rows;  ///< ascending, apart from each other
  std::uint64_t num_groups = 0;
  std::vector<Matrix<std::uint32_t>> counts;  ///< of each line of all functions: (group, bin)
  std::vector<Matrix<std::int64_t>> sums;     ///< of each set of functions: (group, function); empty: none
};

struct Profile::State {
  std::string spec_bytes;
  std::uint64_t factor = 1;        ///< groups were added up, so many at a time
  std::vector<ProfilePart> parts;  ///< by sample
};

/// The inside of a profile, for the test.
struct ProfileAccess {
  [[nodiscard]] static const Profile::State& state(const Profile& profile) { return *profile.state_; }
  static Profile make(std::shared_ptr<const ProfileSpec> spec, Profile::State state);
};

/// Groups of a sample, before groups are added up. `num_rows` of the whole sample.
[[nodiscard]] std::uint64_t groups_of_sample(const ProfileSpec& spec, const SampleExtent& sample);

}  // namespace kqd
