#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/pool.hpp"
#include "kqd/metrics/discrepancy.hpp"

namespace kqd {

/// The positions of a pool that belong to X and to Y.
struct Groups {
  std::vector<std::size_t> x;
  std::vector<std::size_t> y;
};

/// The two samples of a test as one pool, before any arithmetic: rows in a label-blind random order.
struct TestPool {
  SampleView x;  ///< no rows of weight 0
  SampleView y;
  std::vector<std::size_t> order;  ///< position -> row of (X, Y)
  /// Permutations are drawn from this: it follows from which rows are in which sample.
  Seed permutation_seed = {};

  [[nodiscard]] Pool rows() const { return {x.points, y.points, order, roles()}; }
  /// Of the columns; empty if neither sample states any.
  [[nodiscard]] std::span<const ColumnRole> roles() const { return x.roles.empty() ? y.roles : x.roles; }
  /// Of the columns; empty if neither sample has any.
  [[nodiscard]] std::span<const std::string> column_names() const {
    return x.column_names.empty() ? y.column_names : x.column_names;
  }
  [[nodiscard]] bool weighted() const { return x.weighted() || y.weighted(); }
  /// The weight of a row of (X, Y); 1 where its sample has none.
  [[nodiscard]] double weight_of_row(std::size_t row) const;
  /// The weights of some rows of (X, Y), the largest near 1: only ratios matter, and no sum or square of them
  /// overflows. Empty when no row has any.
  [[nodiscard]] std::vector<double> weights_of(std::span<const std::size_t> rows) const;
  /// The labels as they were given: for statements about the samples, never for the contents of a plan.
  [[nodiscard]] Groups observed() const;
};

/// Puts the rows in an order that depends on their values, not on their position or sample: rows are ordered by a hash
/// of their weight and of their ranks in all columns, equal rows are shuffled. So whatever is computed from the ordered
/// pool is label-blind, and a test does not change when the rows of a sample are given in another order, when a column
/// is measured in other units, or when columns change places.
///
/// The permutation seed hashes the ranks and weights of both samples and `identity`, so that every data set meets
/// permutations of its own (docs/design/0003-validity.md). It is the same for any order of rows within a sample and for
/// X and Y exchanged. No seed of the caller enters: nobody can choose a p-value by choosing a seed.
[[nodiscard]] TestPool make_test_pool(const SampleView& x, const SampleView& y, ThreadCount threads,
                                      std::uint64_t identity = 0);

/// Identifies the data besides their rows: a hash of kernel values when the rows are only numbers of objects (for a
/// kernel of the caller's own: when they are 0, 1, 2, ...), else 0.
[[nodiscard]] std::uint64_t identity_of(const SampleView& x, const SampleView& y, const KernelSpec& kernel);

/// The pool of a distance, of which no more than kMaxMedianPoints rows will be used: in the order of a test when
/// there are more, so that what comes from them is that of the test and does not change when samples or rows change
/// places.
[[nodiscard]] TestPool make_summary_pool(const SampleView& x, const SampleView& y, const MethodOptions& options);

/// The kernel of the options with its open bandwidths from the pool.
[[nodiscard]] KernelSpec resolve_kernel(const MethodOptions& options, const Pool& pool, Warnings& warnings);

/// The kernel of a distance with its bandwidth from that pool.
[[nodiscard]] KernelSpec resolve_on_test_pool(const SampleView& x, const SampleView& y, const MethodOptions& options,
                                              Warnings& warnings);

/// Throws Error{invalid_weights} when one of two groups of weighted rows has so little of the weight that sums of the
/// other's squares drown its values.
void require_weight_of_both(double of_x, double of_y);

/// Row i of X next to row i of Y, for all i; which of the two comes first is as label-blind as the order of the pool.
/// For tests whose labels move by swaps within such pairs only. Needs samples of equal size.
[[nodiscard]] std::vector<std::size_t> order_by_pairs(const TestPool& pool);

}  // namespace kqd
