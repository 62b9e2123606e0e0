#pragma once
#include <cstddef>
#include <limits>
#include <span>

#include "kqd/core/labels.hpp"
#include "kqd/core/matrix_view.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"

namespace kqd KQD_PUBLIC {

/// A statistic of two samples, prepared once on their pooled rows and then evaluated for many permutations of them.
///
/// Everything in a plan is a function of the unlabelled pool, in random row order, and of independent randomness: that
/// is what makes a permutation test with it exact (docs/design/0003-validity.md). The observed labels go through
/// evaluate() like any permutation, so equal labels give equal bits.
class Plan {
 public:
  virtual ~Plan() = default;

  /// Rows a permutation of this plan has: the pool without the rows that were held out.
  [[nodiscard]] virtual std::size_t num_rows() const = 0;

  /// values[k] for the k-th permutation, counted through all batches: larger means further from "same distribution".
  /// Same bits for any thread count and for any way of cutting permutations into batches and calls.
  virtual void evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const = 0;

  /// A call of evaluate() gains no speed from more batches than this. A long run is cut into calls of about this size,
  /// between which progress is shown; the default asks for all batches at once, as one pass over a Gram matrix does.
  [[nodiscard]] virtual std::size_t batches_per_call() const { return std::numeric_limits<std::size_t>::max(); }

  /// True when each half of what the plan drew at random, such as its directions, gives a statistic of its own.
  [[nodiscard]] virtual bool has_halves() const { return false; }
  /// evaluate(), and halves(h, k) by half h = 0, 1 for the k-th permutation; unchanged if the plan has no halves.
  virtual void evaluate_with_halves(std::span<const LabelBatch> batches, std::span<double> values,
                                    MatrixView<double> /*halves*/, ThreadCount threads) const {
    evaluate(batches, values, threads);
  }

  /// Two permutations with the same exact value may be evaluated this far apart, by the arithmetic the plan uses.
  [[nodiscard]] virtual double tie_slack(double value) const = 0;
};

}  // namespace kqd
