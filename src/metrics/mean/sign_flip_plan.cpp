#include "metrics/mean/sign_flip_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"
#include "metrics/label_lanes.hpp"
#include "metrics/numerics.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsAtATime = 64;
constexpr std::size_t kColumnsAtATime = 256;

// +1 if the first row of the pair is labelled X, -1 if the second is.
void signs_of_pair(const LabelBatch& batch, std::size_t pair, LabelLanes& signs) {
  expand_bits(batch.words[2 * pair], signs);
  for (double& sign : signs) sign = 2.0 * sign - 1.0;
}

}  // namespace

SignFlipPlan::SignFlipPlan(const Kernel& kernel, PairPattern pattern, const Pool& rows, ThreadCount threads)
    : num_rows_(rows.size()), pattern_(pattern), begins_(pattern.num_rows() + 1, 0) {
  const std::size_t n = pattern_.num_rows();
  for (std::size_t i = 0; i < n; ++i) begins_[i + 1] = begins_[i] + pattern_.end(i) - i - 1;
  terms_.resize(begins_[n]);
  std::vector<std::size_t> first(n);
  std::vector<std::size_t> second(n);
  for (std::size_t i = 0; i < n; ++i) {
    first[i] = 2 * i;
    second[i] = 2 * i + 1;
  }
  for_each_term(kernel, pattern_, {rows, first, second}, threads,
                [&](std::size_t i, std::size_t j, std::span<const double> terms) {
                  std::ranges::copy(terms, terms_.begin() + static_cast<std::ptrdiff_t>(begins_[i] + j - i - 1));
                });
  CompensatedSum sizes;
  for (const double h : terms_) sizes.add(std::abs(h));
  mean_size_ = sizes.value() / static_cast<double>(terms_.size());
  require_finite(mean_size_, "the MMD");
}

void SignFlipPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  parallel_for_blocks(batches.size(), 1, threads, [&](std::size_t k, std::size_t) {
    evaluate_batch(batches[k], values.subspan(k * LabelBatch::kCapacity, batches[k].count));
  });
}

void SignFlipPlan::evaluate_batch(const LabelBatch& batch, std::span<double> values) const {
  const std::size_t n = pattern_.num_rows();
  std::array<CompensatedSum, LabelBatch::kCapacity> totals;
  std::vector<LabelLanes> row_sums(kRowsAtATime);
  std::vector<LabelLanes> signs(kColumnsAtATime);
  for (std::size_t begin = 0; begin < n; begin += kRowsAtATime) {
    stop_point();
    const std::size_t end = std::min(n, begin + kRowsAtATime);
    for (LabelLanes& lanes : row_sums) lanes.fill(0.0);
    const std::size_t last = pattern_.end(end - 1);
    for (std::size_t first = begin; first < last; first += kColumnsAtATime) {
      const std::size_t stop = std::min(last, first + kColumnsAtATime);
      for (std::size_t j = first; j < stop; ++j) signs_of_pair(batch, j, signs[j - first]);
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<const double> terms = terms_of_row(i);
        LabelLanes& sums = row_sums[i - begin];
        for (std::size_t j = std::max(first, i + 1); j < std::min(stop, pattern_.end(i)); ++j) {
          const double h = terms[j - i - 1];
          const LabelLanes& own = signs[j - first];
          for (unsigned b = 0; b < LabelBatch::kCapacity; ++b) sums[b] += h * own[b];
        }
      }
    }
    LabelLanes of_tile{};
    for (std::size_t i = begin; i < end; ++i) {
      signs_of_pair(batch, i, signs[0]);
      for (unsigned b = 0; b < LabelBatch::kCapacity; ++b) of_tile[b] += signs[0][b] * row_sums[i - begin][b];
    }
    for (unsigned b = 0; b < LabelBatch::kCapacity; ++b) totals[b].add(of_tile[b]);
  }
  for (std::size_t b = 0; b < values.size(); ++b) {
    values[b] = totals[b].value() / static_cast<double>(terms_.size());
  }
}

double SignFlipPlan::tie_slack(double value) const {
  // Signs are exact. A sum of a row takes at most min(width, n) additions, that of a tile 64 more, the rest rounds
  // twice; each is off by at most eps/2 of the sum of magnitudes. Two values may be off in opposite directions.
  const double eps = std::numeric_limits<double>::epsilon();
  return static_cast<double>(pattern_.width() + kRowsAtATime + 4) * eps * mean_size_ + 2.0 * eps * std::abs(value);
}

}  // namespace kqd
