#include "testing/permutation_run.hpp"

#include <algorithm>

#include "core/executor.hpp"

namespace kqd {
namespace {

constexpr std::size_t kLabelBytes = std::size_t{256} << 20U;

}  // namespace

PermutationRun::PermutationRun(const PermutationSource& source, std::uint64_t num_permutations,
                               std::uint64_t enumeration_limit, std::size_t max_bytes)
    : source_(source),
      mode_(PermutationMode::random),
      permutation_count_(num_permutations + 1),
      max_bytes_(max_bytes > 0 ? max_bytes : kLabelBytes) {
  if (enumeration_limit > 0 && source.permutation_count() <= std::max(num_permutations, enumeration_limit)) {
    mode_ = PermutationMode::enumerated;
    permutation_count_ = source.permutation_count();
  }
}

std::span<const LabelBatch> PermutationRun::next(std::size_t max_batches, ThreadCount threads) {
  constexpr std::uint64_t kCapacity = LabelBatch::kCapacity;
  const std::size_t bytes_per_batch = source_.num_rows() * sizeof(std::uint64_t);
  const std::size_t fitting = std::max<std::size_t>(1, max_bytes_ / bytes_per_batch);
  const std::uint64_t left = (permutation_count_ - num_done_ + kCapacity - 1) / kCapacity;
  const std::size_t num_batches = std::min<std::uint64_t>({left, fitting, std::max<std::size_t>(1, max_batches)});
  const std::uint64_t first = num_done_ / kCapacity;
  batches_.resize(std::max(batches_.size(), num_batches));
  parallel_for_blocks(num_batches, 1, threads, [&](std::size_t begin, std::size_t) {
    const std::uint64_t rest = permutation_count_ - (first + begin) * kCapacity;
    source_.fill(mode_, first + begin, static_cast<unsigned>(std::min(rest, kCapacity)), batches_[begin]);
  });
  num_done_ = std::min(permutation_count_, (first + num_batches) * kCapacity);
  return std::span(batches_).first(num_batches);
}

}  // namespace kqd
