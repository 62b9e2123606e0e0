#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/profile/group_rule.hpp"
#include "kqd/profile/sources.hpp"

namespace kqd KQD_PUBLIC {

struct ProfileSpec;

/// Rows of a sample that are counted together.
struct RowBlock {
  MatrixView<const double> rows;
  std::uint64_t first_row = 0;  ///< number of the first row in the sample, from 0
  /// Rows of the sample that the block stands for, those that are left out of it included; 0: none is left out. A row
  /// may be left out for what it holds, such as a missing value.
  std::uint64_t num_read = 0;
  /// The number of each row in the sample, ascending; empty: first_row, first_row + 1, ...
  std::span<const std::uint64_t> numbers = {};
  /// With GroupAssignment::key the key of each row, with blocks its rank among all rows of the sample; else empty.
  std::span<const std::uint64_t> keys = {};
  /// The rows are not neighbours: `numbers`, if there are any, are in any order and may be equal, and first_row and
  /// num_read keep count of rows only. The caller makes sure that every row of the sample is counted once.
  bool scattered = false;
};

/// Bounds for reading a profile that cannot be trusted.
struct ProfileLimits {
  std::size_t max_bytes = std::size_t{1} << 30U;  ///< memory that its counts and sums may take
};

/// A summary of samples that is enough for a test, and that can be added up: rows are assigned to groups, at random
/// unless its rule says otherwise, and counted per group along directions and grids that a spec fixes
/// (docs/design/0009-groups.md).
///
/// Only whole numbers are kept. So the same rows give the same bytes in whatever blocks, order, files and threads they
/// were read, and however their profiles were merged.
class Profile {
 public:
  /// A profile of no rows.
  explicit Profile(std::shared_ptr<const ProfileSpec> spec);
  ~Profile();
  Profile(const Profile& other);
  Profile(Profile&& other) noexcept;
  Profile& operator=(Profile other) noexcept;

  /// A profile of no rows by the same spec, for another sample that is to be compared with this one or merged.
  [[nodiscard]] Profile without_rows() const;

  [[nodiscard]] const std::shared_ptr<const ProfileSpec>& spec() const { return spec_; }
  /// Identifies the spec: profiles with the same one can be merged and compared.
  [[nodiscard]] std::string spec_id() const;
  [[nodiscard]] std::size_t num_columns() const;
  /// Names of the columns; empty: none are known.
  [[nodiscard]] const std::vector<std::string>& column_names() const;
  [[nodiscard]] const GroupRule& group_rule() const;
  /// Rows that a group is meant to have. It has fewer where rows were left out, and about as many with keys or blocks.
  [[nodiscard]] std::uint64_t rows_per_group() const;
  /// Groups of all samples.
  [[nodiscard]] std::size_t num_groups() const;
  /// Rows that were read, those that are in no group or were left out included.
  [[nodiscard]] std::uint64_t num_rows() const;
  /// Rows that were counted: all but those that were left out.
  [[nodiscard]] std::uint64_t num_counted() const;
  [[nodiscard]] std::vector<SampleExtent> samples() const;
  /// The files or other parts of one of these samples; empty: they were not named.
  [[nodiscard]] std::vector<RowSource> sources(const SampleExtent& sample) const;
  /// Names the parts of a sample, some rows of which were counted, for messages and descriptions. Throws
  /// Error{invalid_option} for a sample that is not in the profile.
  void name_sources(const SampleSources& sources);

  /// Counts rows first_row, first_row + 1, ... of a sample. Throws Error{shape_mismatch, non_finite_value} and
  /// Error{invalid_option} for rows that were counted already or are beyond the sample.
  void update(const SampleExtent& sample, MatrixView<const double> rows, std::uint64_t first_row,
              ThreadCount threads = {}) {
    update(sample, RowBlock{.rows = rows, .first_row = first_row}, threads);
  }
  /// The same with rows that are left out, or that are assigned by keys or blocks.
  void update(const SampleExtent& sample, const RowBlock& block, ThreadCount threads = {});

  /// Adds the rows of another profile. Parts of one sample are added group by group, different samples side by side.
  /// Groups of many samples are added up, so that a profile has 512 at most, or 8 of the largest sample: the result
  /// does not depend on the order of merges. Profiles with groups of different sizes get those that both can have.
  /// Throws Error{shape_mismatch} for another spec and Error{invalid_option} for rows that are in both: those of a
  /// sample of the same extent, unless all of its rows are there and were counted otherwise.
  void merge(const Profile& other);
  /// Adds rows that were counted as scattered: those of each sample keep count from where the rows there end. Throws as
  /// merge() does, and Error{invalid_option} for more rows than the sample has.
  void append(const Profile& other);
  /// Takes away rows that were merged before; groups that were added up stay so. Throws Error{invalid_option} for rows
  /// that are not all there.
  void subtract(const Profile& other);
  /// Adds up `factor` neighbouring groups, at most 512 of the first ones in all; a remainder is in no group.
  void coarsen(std::uint64_t factor);

  /// Throws Error{invalid_option} unless all rows of every sample were read: rows must not be missing from some groups
  /// for another reason than what they hold.
  void require_complete() const;

  /// Equal profiles give equal bytes.
  [[nodiscard]] std::string serialize() const;
  /// Throws Error{unreadable_input} for bytes that are not a valid profile, with what is wrong.
  [[nodiscard]] static Profile deserialize(std::string_view bytes, const ProfileLimits& limits = {});

  /// A file; it appears complete or not at all. Throws Error{unwritable_output, unreadable_input}.
  void save(const std::string& path) const;
  [[nodiscard]] static Profile load(const std::string& path, const ProfileLimits& limits = {});

 private:
  friend struct ProfileAccess;
  struct State;

  std::shared_ptr<const ProfileSpec> spec_;
  std::unique_ptr<State> state_;
};

}  // namespace kqd
