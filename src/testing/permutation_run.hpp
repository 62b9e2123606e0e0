#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kqd/core/labels.hpp"
#include "kqd/core/types.hpp"
#include "kqd/testing/permutations.hpp"

namespace kqd {

/// Goes once through the permutations of a test, group by group, the observed one first.
class PermutationRun {
 public:
  /// Enumerates all permutations when there are at most max(num_permutations, enumeration_limit) and the limit is not
  /// 0, else draws num_permutations. max_bytes: of labels at a time, 0: 256 MB.
  PermutationRun(const PermutationSource& source, std::uint64_t num_permutations, std::uint64_t enumeration_limit,
                 std::size_t max_bytes = 0);

  [[nodiscard]] bool enumerated() const { return mode_ == PermutationMode::enumerated; }
  [[nodiscard]] std::uint64_t permutation_count() const { return permutation_count_; }  ///< the observed one included
  [[nodiscard]] std::uint64_t num_done() const { return num_done_; }

  /// The next at most `max_batches` batches, fewer where their labels would take more than `max_bytes`, valid until the
  /// next call; empty at the end.
  std::span<const LabelBatch> next(std::size_t max_batches, ThreadCount threads);

 private:
  const PermutationSource& source_;
  PermutationMode mode_;
  std::uint64_t permutation_count_;
  std::uint64_t num_done_ = 0;
  std::size_t max_bytes_;
  std::vector<LabelBatch> batches_;
};

}  // namespace kqd
