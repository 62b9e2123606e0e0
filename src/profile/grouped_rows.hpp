#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/feature_map.hpp"
#include "core/function_ref.hpp"
#include "core/pool.hpp"
#include "profile/row_groups.hpp"

namespace kqd {

/// While it exists, groups that its thread makes are assigned by keys of rows of (X, Y) (make_row_groups). Methods make
/// groups deep inside their preparation, and none of them has to know how.
class GroupKeysScope {
 public:
  GroupKeysScope(GroupAssignment assignment, std::span<const std::uint64_t> keys);
  ~GroupKeysScope();
  GroupKeysScope(const GroupKeysScope&) = delete;
  GroupKeysScope& operator=(const GroupKeysScope&) = delete;
};

/// Rows of two samples in groups, read unit by unit, and the pilot rows that functions and grids are fitted to.
class GroupedRows {
 public:
  /// `rows`: positions of a label-blind order -> row of (X, Y); the samples must outlive this object while they are
  /// read. Groups and pilot follow from the seed, which must depend on the data.
  /// Rows are assigned at random, unless a GroupKeysScope of this thread says otherwise.
  GroupedRows(const Pool& samples, std::span<const std::size_t> rows, Seed seed);

  [[nodiscard]] const RowGroups& groups() const { return groups_; }
  [[nodiscard]] std::size_t num_units() const { return groups_.num_units(); }
  /// Of the largest unit.
  [[nodiscard]] std::size_t rows_per_unit() const;
  /// At most 50,000 rows, drawn from all of `rows` at random.
  [[nodiscard]] Pool pilot() const { return {pilot_.view(), {nullptr, 0, pilot_.cols()}, {}}; }

  /// Calls body(unit, rows) for every unit, with at most kFeatureRows of its rows at a time in a fixed order. Units are
  /// spread over threads, the blocks of one unit are not.
  void visit(ThreadCount threads, FunctionRef<void(std::size_t unit, MatrixView<const double> rows)> body) const;

  /// sums(unit, k) = sum of feature k over the rows of the unit.
  [[nodiscard]] Matrix<double> unit_sums(const FeatureMap& map, ThreadCount threads) const;

  /// The mean of every feature over the pilot rows.
  [[nodiscard]] std::vector<double> pilot_means(const FeatureMap& map, ThreadCount threads) const;

 private:
  Pool samples_;
  RowGroups groups_;
  Matrix<double> pilot_;
};

/// sums[k] += the sum of column k. Columns of a block are added up first, then the block: with n rows in blocks of
/// kFeatureRows the sum has the error of kFeatureRows + n / kFeatureRows additions.
void add_rows(MatrixView<const double> rows, std::span<double> sums);

}  // namespace kqd
