#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/core/types.hpp"
#include "kqd/core/visibility.hpp"
#include "kqd/core/warning.hpp"
#include "kqd/testing/design.hpp"

namespace kqd KQD_PUBLIC {

struct Exchange;

/// Two ways to go through the permutations of a design; number 0 is the observed permutation in both.
enum class PermutationMode {
  random,      ///< 1, 2, ... are independent, each uniform over all permutations
  enumerated,  ///< 1 .. permutation_count() - 1 are the other permutations, each once
};

/// The permutations of one pool, by number. Permutation b is bit b % 64 of batch b / 64 and depends on the seed and b
/// only: not on the caller, the order, the number of threads, or how many permutations are asked for.
class PermutationSource {
 public:
  /// `row_order[i]` is the pooled row (X rows first) at position i of the plan; missing rows are held out.
  ///
  /// Throws Error{shape_mismatch, empty_sample, invalid_option} when the rows do not fit the design, one sample has no
  /// row left, or the design allows no exchange of labels.
  PermutationSource(const Design& design, SampleSizes sizes, std::span<const std::size_t> row_order, Seed seed);
  ~PermutationSource();
  PermutationSource(PermutationSource&&) noexcept;
  PermutationSource& operator=(PermutationSource&&) noexcept;

  [[nodiscard]] std::size_t num_rows() const { return num_rows_; }
  [[nodiscard]] Seed seed() const { return seed_; }
  /// How many permutations the design allows, the observed one included; the largest 64-bit number when there are more.
  [[nodiscard]] std::uint64_t permutation_count() const { return permutation_count_; }
  /// Warnings about the design, such as blocks that take no part.
  [[nodiscard]] const Warnings& warnings() const;

  /// Makes `batch` hold permutations 64 batch_number .. 64 batch_number + count - 1, count <= 64, reusing its memory.
  ///
  /// Cost of a random batch: one random word per row when nx = ny, up to six when not, and per permutation a number of
  /// corrections of about sqrt(N), or N/128 when not. The same per unit for clusters; some twenty times that for small
  /// blocks.
  void fill(PermutationMode mode, std::uint64_t batch_number, unsigned count, LabelBatch& batch) const;

 private:
  std::unique_ptr<const Exchange> exchange_;
  std::size_t num_rows_;
  std::uint64_t permutation_count_;
  Seed seed_;
};

}  // namespace kqd
