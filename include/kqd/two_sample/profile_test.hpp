#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/metrics/discrepancy.hpp"
#include "kqd/profile/profile.hpp"
#include "kqd/two_sample/margin.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// Options of make_profile().
struct ProfileOptions {
  /// "adaptive": everything that the adaptive test and e-KQD need. "ekqd" or "supkqd": the directions of these only,
  /// which is smaller and faster.
  std::string method = "adaptive";
  /// Rows of a group; 0: a 128th of the rows, of blocks a 32nd. Samples to be compared later need at least that many
  /// rows, better 100 times.
  std::uint64_t rows_per_group = 0;
  GroupRule groups = {};                     ///< how rows are assigned to groups
  std::span<const std::uint64_t> keys = {};  ///< of the rows, unless they are assigned at random: RowBlock::keys
  /// Kernel, bandwidth, directions, seed and parameters of the method; threads.
  MethodOptions statistic = {};
  bool own_scales = true;  ///< as of a test
  /// Count along every column, those of levels included: for a margin, and to explain each column. Otherwise along
  /// those that the method compares. Not with "ekqd" and "supkqd".
  bool every_column = false;
};

/// The extent of a sample that is there as a whole: its id follows from the values of its rows, in any order.
[[nodiscard]] SampleExtent sample_extent(const SampleView& sample);

/// A profile of a sample for the adaptive test. A tenth of its rows, at most 20,000, are drawn at random to choose
/// directions and grids, and are not counted. Throws Error{empty_sample} for fewer than 40 rows, and what
/// two_sample_test() throws for samples that cannot be used.
[[nodiscard]] Profile make_profile(const Sample& sample, const ProfileOptions& options = {},
                                   const RunControl* control = nullptr);

/// A profile that can be compared and merged with another: by the spec of `like`, so that no row is held out. Columns
/// are matched by name where both have names.
[[nodiscard]] Profile make_profile(const Sample& sample, const Profile& like, ThreadCount threads = {},
                                   const RunControl* control = nullptr, std::span<const std::uint64_t> keys = {});

/// Are two samples from the same distribution, judged by their profiles? Permutes groups: exact, because directions
/// and grids depend on rows that are in no group. Method adaptive (the default), ekqd or supkqd with the directions of
/// the spec, any power and level weights. Profiles have the same spec and group size, and all rows of their samples.
/// Throws Error{shape_mismatch, invalid_option, empty_sample}.
[[nodiscard]] TwoSampleResult two_sample_test(const Profile& x, const Profile& y, const TwoSampleOptions& options = {},
                                              const RunControl* control = nullptr);

/// difference_size() of profiles: location and shape of the columns, from the counts along them. Takes the confidence,
/// seed and threads of the options. Throws what two_sample_test() throws, and Error{invalid_option} for profiles that
/// do not count along every column.
[[nodiscard]] DifferenceSize difference_size(const Profile& x, const Profile& y,
                                             const DifferenceSizeOptions& options = {});

}  // namespace kqd
