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
  /// Permutations are drawn from this: it follows from the seed and from which rows are in which sample.
  Seed permutation_seed = {};

  [[nodiscard]] Pool rows() const { return {x.points, y.points, order}; }
  [[nodiscard]] bool weighted() const { return x.weighted() || y.weighted(); }
  /// The weight of a row of (X, Y); 1 where its sample has none.
  [[nodiscard]] double weight_of_row(std::size_t row) const;
  /// The weights of some rows of (X, Y), the largest near 1: only ratios matter, and no sum or square of them
  /// overflows. Empty when no row has any.
  [[nodiscard]] std::vector<double> weights_of(std::span<const std::size_t> rows) const;
  /// The labels as they were given: for statements about the samples, never for the contents of a plan.
  [[nodiscard]] Groups observed() const;
};

/// Puts the rows in an order that depends on their values and on the seed, not on their position or sample: rows are
/// ordered by a seeded hash of their values and weight, equal rows are shuffled. So whatever is
/// computed from the ordered pool is label-blind for every seed, and a test does not change when the rows of a sample
/// are given in another order.
///
/// The permutation seed hashes the cells and weights of both samples, so that every data set meets permutations of its
/// own, also when all are tested with one seed (docs/design/0003-validity.md). It is the same for any order of rows
/// within a sample and for X and Y exchanged.
[[nodiscard]] TestPool make_test_pool(const SampleView& x, const SampleView& y, Seed seed, ThreadCount threads);

/// The seed to make a test pool with: options.seed, together with kernel values when the rows are only numbers
/// 0, 1, 2, ... for a kernel of the caller's own (a precomputed Gram matrix), since these do not identify the data.
[[nodiscard]] Seed pool_seed(const SampleView& x, const SampleView& y, const MethodOptions& options);

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
