#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/error.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// The permutations of the pooled rows that are equally likely when both samples come from the same distribution.
enum class DesignKind {
  independent,  ///< every choice of nx of the N rows
  paired,       ///< row i of X and row i of Y may swap
  blocks,       ///< labels move within blocks of rows (strata)
  clusters,     ///< labels move between whole clusters with the same number of rows
};

/// "independent", "paired", "blocks" or "clusters".
[[nodiscard]] std::string to_string(DesignKind kind);

/// The design of a study. Pooled rows are counted from 0, the rows of X first, then those of Y.
struct Design {
  DesignKind kind = DesignKind::independent;
  /// For blocks and clusters: the block or cluster of every pooled row. Else empty.
  std::vector<std::int64_t> group_ids = {};
  /// Names of the groups with ids 0, 1, 2, ... in messages; empty: their ids.
  std::vector<std::string> group_names = {};

  [[nodiscard]] static Design independent() { return {}; }
  [[nodiscard]] static Design paired() { return {DesignKind::paired, {}}; }
  [[nodiscard]] static Design blocks(std::vector<std::int64_t> block_of_row);
  [[nodiscard]] static Design clusters(std::vector<std::int64_t> cluster_of_row);
};

/// The meaning of row weights, which decides what permutations may exchange.
enum class WeightsAs {
  checked,    ///< frequency, when the weights of both samples look alike; else refused
  frequency,  ///< a row and its weight are exchanged together: exact when these pairs are exchangeable
  precision,  ///< weights do not depend on the values: rows are exchanged, weights stay where they are; exact
  sampling,   ///< survey or importance weights: rows are kept with a probability proportional to their weight
};

/// Reads "frequency", "precision" or "sampling".
[[nodiscard]] WeightsAs parse_weights_as(std::string_view text);
[[nodiscard]] std::string to_string(WeightsAs weights_as);

/// Rows of the two samples.
struct SampleSizes {
  std::size_t x = 0;
  std::size_t y = 0;

  [[nodiscard]] std::size_t total() const { return x + y; }
};

/// Refuses a design that does not fit the samples: pairs of unequal number, group ids of another number than the rows.
/// Throws Error{shape_mismatch}.
void validate(const Design& design, SampleSizes sizes);

/// The rows to hold out when `rows` are held out: with each row of a pair its partner, with each row of a cluster the
/// whole cluster, so that the rest is a design of the same kind. Ascending, each row once.
/// Throws Error{shape_mismatch} for a row beyond the pool.
[[nodiscard]] std::vector<std::size_t> whole_units(const Design& design, SampleSizes sizes,
                                                   std::span<const std::size_t> rows);

}  // namespace kqd
