#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/profile/profile.hpp"
#include "kqd/two_sample/profile_test.hpp"

namespace kqd KQD_PUBLIC {

/// make_profile() for rows that are somewhere else, on a cluster say. The draft says which rows are held out to choose
/// directions and grids; the caller fetches these and gets a profile of no rows, by which all rows are counted where
/// they are. Rows that SampleSources numbers give the bytes of make_profile_of_files().
class ProfileDraft {
 public:
  /// Of one sample, or of two that are to be tested against each other. Groups are assigned at random or by keys;
  /// options.keys are not read. Throws Error{invalid_option}, and Error{empty_sample} for fewer than 40 rows.
  ProfileDraft(const ProfileOptions& options, std::vector<SampleExtent> samples);
  ~ProfileDraft();
  ProfileDraft(const ProfileDraft&) = delete;
  ProfileDraft& operator=(const ProfileDraft&) = delete;

  /// The numbers of the held-out rows of one of the samples, in the order in which finish() takes them. For groups that
  /// are assigned at random.
  [[nodiscard]] std::vector<std::uint64_t> held_out_rows(const SampleExtent& sample) const;
  /// The place of each row of a sample by its key, for groups that are assigned by keys: rows with a place below
  /// num_held_out() are held out, and finish() takes them in the order of their places.
  [[nodiscard]] std::vector<std::uint64_t> places(const SampleExtent& sample,
                                                  std::span<const std::uint64_t> keys) const;
  /// Rows of one of the samples that are held out; with keys about as many.
  [[nodiscard]] std::uint64_t num_held_out(const SampleExtent& sample) const;

  /// A profile of no rows, whose spec is made by the held-out rows of all samples, one sample after another. Rows with
  /// a NaN are left out. Throws Error{empty_sample} if too few are left, and what make_profile() throws.
  [[nodiscard]] Profile finish(MatrixView<const double> held_out, const std::vector<std::string>& column_names) const;

 private:
  ProfileOptions options_;
  std::unique_ptr<ProfileSpec> spec_;
};

}  // namespace kqd
