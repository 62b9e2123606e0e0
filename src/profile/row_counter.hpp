#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/feature_map.hpp"
#include "kqd/core/matrix_view.hpp"
#include "profile/line_grid.hpp"
#include "profile/profile_spec.hpp"
#include "profile/row_places.hpp"

namespace kqd {

/// The functions of a spec, ready to be evaluated and counted.
struct CountedFunctions {
  /// One set of functions.
  struct Set {
    RowFunctions map;
    std::size_t num_values = 0;  ///< functions that are evaluated
    std::size_t first_line = 0;  ///< the number of its first line among those of all sets
    std::vector<BinFinder> lines;
    std::vector<double> centres;       ///< of functions that are summed; else empty
    std::vector<double> factors;       ///< by which differences from the centres are multiplied
    std::vector<double> line_factors;  ///< of lines that are summed per bin; else empty
  };

  explicit CountedFunctions(const ProfileSpec& spec);

  std::vector<Set> sets;
};

/// Counts rows of one sample in a part of a profile. Whole numbers are added up, so that the order of rows, blocks and
/// threads does not matter.
class RowCounter {
 public:
  /// Everything referred to must outlive the counter. `rows_per_group` is that of the part.
  RowCounter(const ProfileSpec& spec, const CountedFunctions& functions, std::uint64_t rows_per_group,
             ProfilePart& part);

  /// Counts the rows of a block of the sample. Several threads may count at a time.
  void count(const RowBlock& block);

 private:
  struct Sorted;

  [[nodiscard]] Sorted sorted_by_group(const RowBlock& block) const;
  void count_set(std::size_t number, const Sorted& sorted);

  const CountedFunctions& functions_;
  std::uint64_t rows_per_group_;
  ProfilePart& part_;
  RowPlaces places_;
  std::mutex of_groups_;
  std::vector<std::mutex> of_set_;  // guard the counts and sums of a set
  std::atomic<std::size_t> turn_{0};
};

}  // namespace kqd
