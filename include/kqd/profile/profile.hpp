#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

struct ProfileSpec;

/// The sample that rows belong to; profiles of its parts name the same.
struct SampleExtent {
  std::uint64_t id = 0;        ///< of the sample; the assignment of its rows to groups follows from it
  std::uint64_t num_rows = 0;  ///< of the whole sample

  friend auto operator<=>(const SampleExtent&, const SampleExtent&) = default;
};

/// Bounds for reading a profile that cannot be trusted.
struct ProfileLimits {
  std::size_t max_bytes = std::size_t{1} << 30U;  ///< memory that its counts and sums may take
};

/// A summary of samples that is enough for a test, and that can be added up: rows are assigned at random to groups of
/// one size, and counted per group along directions and grids that a spec fixes (docs/design/0009-groups.md).
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

  [[nodiscard]] const std::shared_ptr<const ProfileSpec>& spec() const { return spec_; }
  /// Identifies the spec: profiles with the same one can be merged and compared.
  [[nodiscard]] std::string spec_id() const;
  [[nodiscard]] std::size_t num_columns() const;
  /// Names of the columns; empty: none are known.
  [[nodiscard]] const std::vector<std::string>& column_names() const;
  [[nodiscard]] std::uint64_t rows_per_group() const;
  /// Groups of all samples.
  [[nodiscard]] std::size_t num_groups() const;
  /// Rows that were read, those that are in no group included.
  [[nodiscard]] std::uint64_t num_rows() const;
  [[nodiscard]] std::vector<SampleExtent> samples() const;

  /// Counts rows first_row, first_row + 1, ... of a sample. Throws Error{shape_mismatch, non_finite_value} and
  /// Error{invalid_option} for rows that were counted already or are beyond the sample.
  void update(const SampleExtent& sample, MatrixView<const double> rows, std::uint64_t first_row,
              ThreadCount threads = {});

  /// Adds the rows of another profile. Parts of one sample are added group by group, different samples side by side.
  /// Throws Error{shape_mismatch} for another spec and Error{invalid_option} for rows that are in both.
  void merge(const Profile& other);
  /// Takes away rows that were merged before. Throws Error{invalid_option} for rows that are not all there.
  void subtract(const Profile& other);
  /// Adds up `factor` neighbouring groups, so that groups have as many times the rows; a remainder is dropped.
  void coarsen(std::uint64_t factor);

  /// Throws Error{invalid_option} unless all rows of every sample are there: else groups are not of one size.
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
