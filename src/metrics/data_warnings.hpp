#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/function_ref.hpp"
#include "core/pool.hpp"
#include "kqd/core/sample.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/kernel/kernel.hpp"

namespace kqd {

/// Adds a sentence for a sample of one row and one for constant columns.
void warn_about_data(const SampleView& x, const SampleView& y, Warnings& warnings);

/// Its two parts: a sample of one row; constant columns of a pool, or points too close to distinguish.
void warn_about_one_row(const SampleView& sample, std::string_view name, Warnings& warnings);
void warn_about_pool(const Pool& pool, std::span<const std::string> column_names, Warnings& warnings);

/// The name of a column in quotes, or its number from 1 where there are no names.
[[nodiscard]] std::string column_label(std::span<const std::string> names, std::size_t column);

/// Columns that have nearly all of the variance of all columns, and their share.
struct DominatingColumns {
  std::vector<std::size_t> indices;  ///< ascending; at most half of the columns that vary
  double share = 0.0;
};

/// The columns whose standard deviations are far above all others, if there are some. `deviations` in any unit.
[[nodiscard]] std::optional<DominatingColumns> dominating_columns(std::span<const double> deviations);

/// Warns about such columns, which dominate all distances between rows; from the standard deviations and labels of all
/// columns, or from the points.
void warn_about_scales(std::span<const double> deviations, FunctionRef<std::string(std::size_t)> label_of,
                       Warnings& warnings);
void warn_about_scales(const Pool& pool, std::span<const std::string> column_names, Warnings& warnings);
void warn_about_scales(const SampleView& x, const SampleView& y, Warnings& warnings);

/// Throws Error{invalid_option} when some of the caller's `points` are rows of one sample and not of the other, or
/// nearly so, or when all seem to be made of rows of one sample: what a test sees from there differs between samples of
/// one distribution, too. Points that are independent of both samples pass with a probability above 0.999.
void check_reference_points(const MatrixView<const double>& points, const SampleView& x, const SampleView& y, Seed seed,
                            ThreadCount threads);

/// Warns that rows of a sample are copies: nine in ten of its different rows, ten at least, appear equally often,
/// twice or more. A test that takes copies for independent rows rejects too often. Ordinary discrete values appear
/// in varying numbers.
void warn_about_copies(const SampleView& sample, std::string_view name, Warnings& warnings);

/// Warns about directions that carry no information, if there are any.
void warn_about_flat_directions(std::size_t num_flat, std::size_t num_directions, const KernelSpec& kernel,
                                Warnings& warnings);

}  // namespace kqd
