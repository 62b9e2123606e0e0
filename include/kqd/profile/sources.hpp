#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The sample that rows belong to; profiles of its parts name the same.
struct SampleExtent {
  std::uint64_t id = 0;        ///< of the sample; the assignment of its rows to groups follows from it
  std::uint64_t num_rows = 0;  ///< of the whole sample

  friend auto operator<=>(const SampleExtent&, const SampleExtent&) = default;
};

/// A file of a sample, or another part of it with rows in a fixed order, by what is known without reading its rows.
struct RowSource {
  std::string name;             ///< different within a sample; of files: source_names()
  std::uint64_t num_bytes = 0;  ///< of the file; 0: it is not a file
  std::uint64_t num_rows = 0;

  friend auto operator<=>(const RowSource&, const RowSource&) = default;
};

/// The parts of a sample in the order of their names. Its extent and the number of every row follow from names, sizes
/// and numbers of rows, so that programs which read the parts in any order, each some of them, agree
/// (docs/design/0009-groups.md).
class SampleSources {
 public:
  SampleSources() = default;
  /// Sorts the parts. Throws Error{invalid_option} for two of the same name or a name that is empty or too long, and
  /// Error{empty_sample} when there are no rows.
  explicit SampleSources(std::vector<RowSource> sources);

  [[nodiscard]] const std::vector<RowSource>& list() const { return sources_; }
  /// The id hashes names, sizes and numbers of rows.
  [[nodiscard]] SampleExtent extent() const { return extent_; }
  /// The number in the sample of the first row of a part: the rows of the parts before it.
  [[nodiscard]] std::uint64_t first_row(std::size_t part) const { return first_rows_[part]; }
  /// The same of the part with this name. Throws Error{invalid_option}.
  [[nodiscard]] std::uint64_t first_row(std::string_view name) const;

 private:
  std::vector<RowSource> sources_;
  std::vector<std::uint64_t> first_rows_;
  SampleExtent extent_;
};

/// The longest name of a part, in bytes.
inline constexpr std::size_t kLongestSourceName = 4096;

/// Names of files that do not depend on where their folder is: the path from the deepest folder that holds all of them,
/// with the name of that folder in front. Folders of the paths are separated by '/'; paths are absolute, or all
/// relative to one folder. For example "/data/jan/a.csv" and "/data/jan/x/b.csv" are "jan/a.csv" and "jan/x/b.csv".
[[nodiscard]] std::vector<std::string> source_names(const std::vector<std::string>& paths);

}  // namespace kqd
