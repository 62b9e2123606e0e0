#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "explain/table_columns.hpp"
#include "kqd/directions/directions.hpp"
#include "kqd/explain/explain.hpp"
#include "kqd/kernel/objects.hpp"
#include "kqd/testing/permutations.hpp"
#include "metrics/test_pool.hpp"
#include "two_sample/test_samples.hpp"

namespace kqd {

/// Columns of both samples in other units than those they were given in.
struct RowsInUnits {
  Matrix<double> x;  // no rows: as they were given
  Matrix<double> y;
  std::vector<double> lengths = {};  // per column: what a step of 1 is in the units they were given in
};

/// The two samples of an explanation: their pool in an order that does not depend on the labels, and the observed
/// labels. Rows are addressed by their position in the pool. Rows of weight 0 are excluded. Columns are in the units of
/// the table, but for kernels, which may see each in its own scale or standardised.
class ExplainedSamples {
 public:
  ExplainedSamples(const SampleView& x, const SampleView& y, const ExplainOptions& options);

  [[nodiscard]] const ExplainOptions& options() const { return options_; }
  /// In the units of the table.
  [[nodiscard]] Pool pool() const { return in_units(table_units_); }
  [[nodiscard]] Pool given_pool() const { return pool_.rows(); }
  [[nodiscard]] Pool kernel_pool() const { return in_units(kernel_units_); }
  [[nodiscard]] bool own_scales() const { return kernel_units_.x.rows() > 0; }
  /// A length in the units of the table in those of kernel_pool() or given_pool().
  [[nodiscard]] double length_for_kernel(std::size_t column, double length) const;
  [[nodiscard]] double given_length(std::size_t column, double length) const;
  [[nodiscard]] std::size_t num_rows() const { return pool_.order.size(); }
  [[nodiscard]] std::size_t num_x() const { return samples_.x.size(); }
  [[nodiscard]] std::size_t num_y() const { return samples_.y.size(); }
  /// Columns; objects have none.
  [[nodiscard]] std::size_t dim() const { return is_of_objects(options_.kernel) ? 0 : samples_.x.dim(); }
  [[nodiscard]] const TestSamples& samples() const { return samples_; }
  [[nodiscard]] const PermutationSource& source() const { return source_; }
  [[nodiscard]] const LabelBatch& observed() const { return observed_; }  ///< its first permutation is the observed one
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }  ///< per position; empty: equal
  [[nodiscard]] double weight(std::size_t position) const { return weights_.empty() ? 1.0 : weights_[position]; }
  [[nodiscard]] bool in_y(std::size_t position) const { return !observed_.is_x(position, 0); }
  /// Index of the row at a position: in the sample as given, from 0, and in the file, from 1.
  [[nodiscard]] std::size_t index_of(std::size_t position) const;
  [[nodiscard]] std::size_t file_row_of(std::size_t position) const;
  [[nodiscard]] std::string column_name(std::size_t column) const;
  /// The columns of the table behind those of the samples.
  [[nodiscard]] const std::vector<TableColumn>& table() const { return table_; }
  [[nodiscard]] const Marks& marks() const { return marks_; }
  /// The positions that have a value in a column of the samples; empty: all of them.
  [[nodiscard]] std::vector<std::uint32_t> rows_with_value(std::size_t column) const;

 private:
  [[nodiscard]] Pool in_units(const RowsInUnits& units) const;

  const ExplainOptions& options_;
  TestSamples samples_;
  TestPool pool_;
  RowsInUnits table_units_;
  RowsInUnits kernel_units_;
  PermutationSource source_;
  std::vector<double> weights_;
  LabelBatch observed_;
  std::vector<TableColumn> table_;
  std::vector<std::size_t> missing_marks_;  ///< per column: the one that marks its missing values, or dim()
  Marks marks_;
};

/// The first rows of a pool, at most `count`: a random choice that does not depend on the labels.
[[nodiscard]] Pool first_rows(const Pool& pool, std::size_t count);

/// All directions that are tested: the columns, then the principal functions of the kernel, computed from at most
/// 20000 rows. None depends on the labels.
class ExaminedDirections {
 public:
  ExaminedDirections(const ExplainedSamples& pair, const KernelSpec& kernel);

  [[nodiscard]] std::size_t num_columns() const { return pair_.dim(); }
  [[nodiscard]] std::size_t count() const { return num_columns() + (principal_ ? principal_->count() : 0); }
  [[nodiscard]] bool is_column(std::size_t i) const { return i < num_columns(); }
  /// Rows from which the principal functions were computed.
  [[nodiscard]] std::size_t num_principal_rows() const;
  /// "column age", "principal 3".
  [[nodiscard]] std::string name(std::size_t i) const;
  /// The functions behind directions num_columns() and on; null when there are none.
  [[nodiscard]] const KernelDirections* principal() const { return principal_.get(); }
  /// Projections of the first rows of the pool on directions first .. first + count - 1, one row each.
  [[nodiscard]] Matrix<double> project(std::size_t num_rows, std::size_t first, std::size_t count) const;

 private:
  const ExplainedSamples& pair_;
  std::unique_ptr<const KernelDirections> principal_;
};

}  // namespace kqd
