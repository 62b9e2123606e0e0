#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/matrix_view.hpp"
#include "simd/label_words.hpp"
#include "simd/split_queue.hpp"

namespace kqd::simd {

/// The pieces of (0, 1] on which both groups' quantile functions are constant, in ascending order. The first piece
/// compares the smallest x with the smallest y.
struct LevelPieces {
  std::size_t count = 0;               ///< nx = ny = count without steps; at most nx + ny - 1 otherwise
  std::span<const double> mass;        ///< of each piece by the level weights; empty: 1 each
  std::span<const std::uint8_t> step;  ///< after a piece, bit 0: on to the next x, bit 1: to the next y; empty: both
};

/// Integrals of |x_q - y_q|^p over the quantile levels q, for many permutations of a sorted pool, without sorting
/// again: the labels along the sorted order give the group of each value [KQE sec. 3.2].
///
/// Holds the scratch memory: a bit per row and permutation, and the values that wait for a partner. Keep one per thread
/// and reuse it.
class LabelSplitter {
 public:
  /// Takes the labels of `count` permutations along the order of a pool: bit b % 64 of words(row, b / 64) is set when
  /// `row` is labelled X in permutation b. At most kMaxLabelWords columns, and 64 permutations per column.
  void set_labels(std::span<const std::uint32_t> order, MatrixView<const std::uint64_t> words, std::size_t count);

  /// integrals[b] = sum over the pieces of mass |x - y|^power for permutation b; the largest |x - y| of a piece with
  /// mass > 0 when power is infinite. `values` ascend and belong to the order given to set_labels(). `pieces` has one
  /// entry for all permutations or one for each, and fits their group sizes.
  ///
  /// x_sums, unless empty, receives the sum of the values labelled X.
  /// Cost: O(N) per permutation, about 0.4 ns per row and permutation for power 2 and equal sizes.
  /// Results do not depend on the other permutations of the call; for whole powers they have the same bits on every
  /// instruction set.
  void integrate(std::span<const double> values, std::span<const LevelPieces> pieces, double power,
                 std::span<double> integrals, std::span<double> x_sums = {});

 private:
  static constexpr std::size_t kTogether = 4;  // permutations that share a chunk of values while it is in cache

  std::vector<std::uint64_t> bits_;  // bit k of stream b: the label of values[k] in permutation b
  std::size_t words_per_stream_ = 0;
  std::size_t num_rows_ = 0;
  std::size_t count_ = 0;
  std::array<SplitQueue, kTogether> x_;
  std::array<SplitQueue, kTogether> y_;
};

/// Bound on the relative error of an integral, compared with exact arithmetic on the same values and masses, if no
/// power of a difference leaves the range of normal doubles.
[[nodiscard]] double label_split_relative_error(std::size_t num_pieces, double power);

}  // namespace kqd::simd
