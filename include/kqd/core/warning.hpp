#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kqd/core/message.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Every warning and note of the library, in the order of the data. src/core/warning_catalogue.cpp has the sentences,
/// docs/guide/warnings.md says what to do about each.
enum class WarningId : std::uint8_t {
  // Reading
  numbers_in_header,
  first_row_counts,
  first_row_shared,
  first_row_far,
  blank_lines_skipped,
  dates_as_text,
  hash_collisions,
  listed_column_not_compared,
  columns_reordered,
  columns_by_position,
  pairs_omitted,
  rows_omitted,
  values_imputed,
  rows_drawn,
  files_in_blocks,
  zero_interquartile_range,
  different_names,
  integers_offset,
  new_levels,
  new_missing_values,
  // Samples
  one_row,
  identical_points,
  constant_columns,
  dominating_columns,
  copied_rows,
  squares_underflow,
  // Options
  options_without_effect,
  // Kernels and directions
  zero_median_distance,
  zero_distances,
  tiny_kernel,
  wide_bandwidths,
  fewer_principal_directions,
  too_many_reference_points,
  all_points_are_reference,
  fewer_reference_points,
  flat_directions,
  flat_directions_bandwidth,
  flat_pairs,
  // Methods
  columns_sampled,
  linear_overflow,
  linear_underflow,
  unmatched_rows,
  singular_covariance,
  large_ridge,
  equal_features,
  median_not_converged,
  sinkhorn_not_converged,
  sinkhorn_not_converged_in_test,
  images_not_shown,
  // Weights and designs
  weights_may_differ,
  sampling_weights,
  precision_weights,
  clusters_of_equal_size,
  clusters_reduced_to_powers,
  clusters_reduced_to_smallest,
  one_sided_blocks,
  unmatched_clusters,
  // Calibration
  more_permutations,
  few_distinct_permutations,
  few_permutations,
  tied_permutations,
  decision_depends_on_directions,
  few_permutations_for_pairs,
  few_terms,
  equal_terms,
  slow_permutations,
  slow_precision_weights,
  // Monitoring
  batch_too_small,
  neighbours_alike,
};

/// A value in the sentence of a warning: a whole number, a real number or a text.
using WarningValue = std::variant<std::int64_t, double, std::string>;

/// One warning or note of a result. The id says what is affected; render() makes the sentence.
struct Warning {
  WarningId id = {};
  std::vector<WarningValue> values = {};
  std::size_t num_affected_pairs = 0;  ///< pairs of samples it holds for, when several were compared
  std::size_t num_pairs = 0;           ///< all pairs; 0: it is not about several pairs

  [[nodiscard]] bool operator==(const Warning&) const = default;
};

using Warnings = std::vector<Warning>;

/// "constant-columns": the name in JSON and in the guide.
[[nodiscard]] std::string_view warning_name(WarningId id);

/// The warning with this name. Throws Error{invalid_option}.
[[nodiscard]] WarningId parse_warning(std::string_view name);

/// The sentence, in the words of a front end.
[[nodiscard]] std::string render(const Warning& warning, OptionNames names = library_names);

}  // namespace kqd
