#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kqd/core/matrix.hpp"
#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// Kind of a column of a sample. A column of a table becomes one column of numbers, or several: one per level of a
/// category, one that marks missing values.
enum class ColumnKind {
  number,   ///< a quantity; where the table has no value, the pooled median, and a column `missing` of the same source
  level,    ///< 1 in the rows that have one level of a category, else 0
  missing,  ///< 1 in the rows without a value, else 0
};

/// Where a column of a sample comes from.
struct ColumnRole {
  ColumnKind kind = ColumnKind::number;
  std::size_t source = 0;  ///< number of the table's column, from 0; columns of one source belong together
  bool operator==(const ColumnRole&) const = default;
};

/// One sample, not owned: a row per point and, if wanted, a weight per row. No weights means equal weights.
struct SampleView {
  MatrixView<const double> points;
  std::span<const double> weights = {};
  std::span<const ColumnRole> roles = {};          ///< one per column; empty: all are numbers, each of its own source
  std::span<const std::string> column_names = {};  ///< for warnings; empty: columns are numbered from 1

  [[nodiscard]] std::size_t size() const { return points.rows(); }
  [[nodiscard]] std::size_t dim() const { return points.cols(); }
  [[nodiscard]] bool weighted() const { return !weights.empty(); }
};

/// One sample with its names, as a reader returns it.
struct Sample {
  Matrix<double> points;
  std::vector<double> weights;            ///< empty: all equal
  std::vector<std::string> column_names;  ///< empty: none known
  std::vector<ColumnRole> roles = {};     ///< one per column; empty: all are numbers, each of its own source

  [[nodiscard]] SampleView view() const { return {points.view(), weights, roles, column_names}; }
  operator SampleView() const { return view(); }  // NOLINT(google-explicit-constructor)
};

/// Refuses what no statistic can use: no rows or columns, NaN or infinity (naming row and column, both from 1), weights
/// that are negative, not finite, all zero or of another count than the rows. `name` starts the sentence.
void validate(const SampleView& sample, std::string_view name, ThreadCount threads = {});

/// Refuses samples of different dimension, and either sample as above; names are "X" and "Y".
void validate_pair(const SampleView& x, const SampleView& y, ThreadCount threads = {});

/// Weights that sum to 1: w / sum(w), or 1/n for a sample without weights.
[[nodiscard]] std::vector<double> normalised_weights(const SampleView& sample);

/// The sample without its rows of weight zero; the sample itself (a view of it) when it has none.
/// `storage` keeps the copied rows alive when a copy had to be made.
[[nodiscard]] SampleView without_zero_weights(const SampleView& sample, Sample& storage);

}  // namespace kqd
