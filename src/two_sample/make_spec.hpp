#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/two_sample/profile_test.hpp"
#include "profile/profile_spec.hpp"

namespace kqd {

/// How many rows of a sample are held out to make a spec: a tenth, at most 20,000.
[[nodiscard]] std::uint64_t rows_to_hold_out(std::uint64_t num_rows);

/// Rows of a group for a test of two samples.
[[nodiscard]] std::uint64_t rows_per_group_of(const SampleExtent& x, const SampleExtent& y, GroupAssignment assignment);

/// A spec is made in steps: begin_spec(), hold_out() for each sample, then RowPlaces says which rows these are, and
/// finish_spec() takes them. Throws Error{invalid_option}.
[[nodiscard]] ProfileSpec begin_spec(const ProfileOptions& options);

/// Throws Error{empty_sample} for fewer than 40 rows.
void hold_out(ProfileSpec& spec, const SampleExtent& sample);

/// Chooses directions, grids and scales by the held-out rows.
[[nodiscard]] std::shared_ptr<const ProfileSpec> finish_spec(ProfileSpec spec, const Matrix<double>& held_out,
                                                             const std::vector<std::string>& column_names,
                                                             const ProfileOptions& options);

}  // namespace kqd
