#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"

namespace kqd {

/// Units among which labels are exchanged: `size` of them from unit `first` on, `num_x` of which are X in any
/// permutation.
struct Stratum {
  std::size_t first = 0;
  std::size_t size = 0;
  std::size_t num_x = 0;
};

/// Every design in the same terms: rows form units that carry one label, units form strata that keep their number of
/// X units, and every permutation that does so is equally likely. Independent: units are rows, one stratum. Blocks:
/// units are rows, a stratum per block; pairs are blocks of two. Clusters: units are clusters, a stratum per size.
struct Exchange {
  std::vector<Stratum> strata;                ///< they cover the units, in order
  std::vector<std::size_t> unit_of_position;  ///< empty: unit i is the row at position i
  std::vector<std::uint8_t> observed_is_x;    ///< observed label of every unit
  bool units_are_rows = true;                 ///< then every permutation has the same number of X rows
  Warnings warnings;
};

/// The exchange that `design` allows among the rows of `row_order` (position -> pooled row).
/// Throws as PermutationSource does.
[[nodiscard]] Exchange make_exchange(const Design& design, SampleSizes sizes, std::span<const std::size_t> row_order);

}  // namespace kqd
