#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kqd/core/run_control.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/io/preparation.hpp"
#include "kqd/io/read.hpp"
#include "kqd/profile/profile.hpp"
#include "kqd/two_sample/profile_test.hpp"
#include "kqd/two_sample/two_sample_test.hpp"

namespace kqd KQD_PUBLIC {

/// A profile of files, and how they were read.
struct FilesProfile {
  Profile profile;
  Preparation preparation;  ///< columns of text that were dropped; its counts of X are those of the sample
  Warnings notes;           ///< sentences a user should see, as of SamplePair
};

/// A profile of all rows of some files, which are read in blocks: memory does not grow with the rows. The files may
/// be CSV, TSV, NPY (also compressed) or Parquet; expand_files() makes them of patterns. They are one sample, whose
/// rows are numbered by SampleSources: the order of the files does not matter, and the id follows from the names of the
/// files, their sizes and numbers of rows instead of what the rows hold. So the result differs from that of the same
/// rows in memory by the rows that are held out and by the groups.
///
/// Read twice, once for the held-out rows that directions and grids come from, once to count; CSV once more before, for
/// the number of its rows. Throws what read_sample() throws, Error{invalid_option} for options that need all rows at a
/// time (imputation, encoding of text, scaling, weights), and Error{unreadable_input} for files that change meanwhile.
[[nodiscard]] FilesProfile make_profile_of_files(const std::vector<std::string>& files, const ReadOptions& read,
                                                 const ProfileOptions& options, const RunControl* control = nullptr);

/// The same by the spec of another profile: no row is held out, and the rows are read once. Columns are matched by name
/// where both have names.
[[nodiscard]] FilesProfile make_profile_of_files(const std::vector<std::string>& files, const ReadOptions& read,
                                                 const Profile& like, ThreadCount threads = {},
                                                 const RunControl* control = nullptr);

/// A warning that a test of the rows of these files would take more memory than `max_memory` (0: 70% of what the
/// machine has; below 64 MB: 64 MB, because blocks need that as well), so that they are better read in blocks; nothing
/// if they fit. By numbers of rows and columns, of text by its first lines; of a file that cannot be read nothing.
[[nodiscard]] std::optional<Warning> files_in_blocks(const std::vector<std::string>& files, const ReadOptions& read);

/// A test of two samples in files, which are read in blocks.
struct FilesTest {
  TwoSampleResult result;
  FilesProfile x;
  FilesProfile y;
};

/// two_sample_test() of profiles of both samples, whose spec comes from held-out rows of both; they take no part in the
/// test (TwoSampleResult::num_set_aside). Methods adaptive, ekqd and supkqd. Throws what make_profile_of_files() and
/// two_sample_test() throw, and Error{invalid_option} for a file that is in both samples. `batches` are the reference
/// batches of MarginOptions::from_batches, a file each.
[[nodiscard]] FilesTest two_sample_test_of_files(const std::vector<std::string>& files_x,
                                                 const std::vector<std::string>& files_y, const ReadOptions& read,
                                                 const TwoSampleOptions& options = {},
                                                 const std::vector<std::string>& batches = {},
                                                 const RunControl* control = nullptr);

}  // namespace kqd
