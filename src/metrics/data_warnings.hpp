#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pool.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Adds a sentence for a sample of one row and one for constant columns.
void warn_about_data(const SampleView& x, const SampleView& y, std::vector<std::string>& warnings);

/// The two parts of it: a sample of one row; columns of a pool that are constant, or points too close to tell apart.
void warn_about_one_row(const SampleView& sample, std::string_view name, std::vector<std::string>& warnings);
void warn_about_pool(const Pool& pool, std::vector<std::string>& warnings);

/// A column that has nearly all of the variance of all columns, and its share.
struct DominatingColumn {
  std::size_t index;
  double share;
};

/// It, if there is one beside others that vary; from the standard deviations of the columns, in any unit.
[[nodiscard]] std::optional<DominatingColumn> dominating_column(std::span<const double> deviations);

/// Says that there is one: what follows distances between rows sees little else.
void warn_about_scales(const Pool& pool, std::vector<std::string>& warnings);

/// Throws Error{invalid_option} when all `points` of the caller's are rows of one sample and none of the other, and
/// warns where some are: what a test sees from points of one sample differs between samples of one law too.
void check_reference_points(const MatrixView<const double>& points, const SampleView& x, const SampleView& y,
                            std::vector<std::string>& warnings);

/// Says that weights of the two samples are on very different scales, which matters to a test and not to a distance.
void warn_about_weights(const SampleView& x, const SampleView& y, std::vector<std::string>& warnings);

/// The sentence on directions that carry no information.
[[nodiscard]] std::string flat_directions_warning(std::size_t num_flat, std::size_t num_directions,
                                                  const KernelSpec& kernel);

}  // namespace kqd
