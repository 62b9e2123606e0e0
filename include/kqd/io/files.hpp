#pragma once
#include <string>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// True for a path that is a pattern with *, ? or [...], and not the name of a file that exists.
[[nodiscard]] bool is_file_pattern(const std::string& path);

/// The files that some paths and patterns mean, sorted, so that their order does not matter. * and ? match within one
/// folder. Throws Error{unreadable_input} for a pattern without a file and a path that is not a file, and
/// Error{invalid_option} for a file that is meant twice.
[[nodiscard]] std::vector<std::string> expand_files(const std::vector<std::string>& paths);

/// True when all rows of these files can be read in blocks: CSV and TSV, NPY, each also compressed by gzip, and
/// Parquet. Decided by their names.
[[nodiscard]] bool read_in_blocks(const std::vector<std::string>& files);

}  // namespace kqd
