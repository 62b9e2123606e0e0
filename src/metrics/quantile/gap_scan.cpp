#include "metrics/quantile/gap_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/label_scan.hpp"
#include "simd/label_words.hpp"

namespace kqd {
namespace {

// The weight that rows add to X and to Y in each permutation. Both are summed: as a difference from the total the
// smaller one would lose its digits where one sample weighs much more.
struct SideWeights {
  LabelLanes x{};
  LabelLanes y{};

  void add(std::uint64_t labels, double weight) {
    LabelLanes bits;
    expand_bits(labels, bits);
    for (std::size_t b = 0; b < bits.size(); ++b) {
      x[b] += bits[b] * weight;
      y[b] += (1.0 - bits[b]) * weight;
    }
  }
};

}  // namespace

GapScan::GapScan(std::span<const LabelBatch> batches, std::size_t count, std::span<const double> weights)
    : batches_(batches), weights_(weights), num_rows_(batches.empty() ? 0 : batches.front().num_rows()) {
  for (const LabelBatch& batch : batches) {
    for (unsigned b = 0; b < batch.count && num_x_.size() < count; ++b) num_x_.push_back(batch.num_x[b]);
  }
  equal_sizes_ = std::ranges::all_of(num_x_, [&](std::size_t nx) { return 2 * nx == num_rows_; });
  if (!weights.empty()) {
    weigh_permutations();
    return;
  }
  for (std::size_t first = 0; first < batches.size(); first += simd::kMaxLabelWords) {
    words_.push_back(
        simd::side_by_side(batches.subspan(first, std::min(simd::kMaxLabelWords, batches.size() - first))));
  }
}

void GapScan::along(const simd::SortedPool& line, GapPrecision precision, std::span<double> taus) const {
  weights_.empty() ? scan(line, precision, taus) : scan_weighted(line, taus);
}

// tau_1 = N/(nx ny) sum_k |c_k - k nx/N| gap_k.
void GapScan::scan(const simd::SortedPool& line, GapPrecision precision, std::span<double> taus) const {
  constexpr std::size_t kStep = simd::kMaxLabelWords * LabelBatch::kCapacity;
  for (std::size_t g = 0; g < words_.size() && g * kStep < count(); ++g) {
    const std::size_t first = g * kStep;
    const auto sums = taus.subspan(first, std::min(kStep, count() - first));
    if (equal_sizes_ && precision == GapPrecision::single) {
      simd::label_scan_equal(line, words_[g], sums);
    } else {
      simd::label_scan(line, words_[g], std::span(num_x_).subspan(first, sums.size()), sums);
    }
  }
  const auto n = static_cast<double>(num_rows_);
  for (std::size_t k = 0; k < count(); ++k) {
    const auto nx = static_cast<double>(num_x_[k]);
    taus[k] *= n / (nx * (n - nx));
  }
}

void GapScan::weigh_permutations() {
  for (const LabelBatch& batch : batches_) {
    SideWeights totals;
    for (std::size_t i = 0; i < batch.num_rows(); ++i) totals.add(batch.words[i], weights_[i]);
    LabelLanes& per_x = per_x_.emplace_back();
    LabelLanes& per_y = per_y_.emplace_back();
    for (std::size_t b = 0; b < batch.count; ++b) {
      per_x[b] = 1.0 / totals.x[b];
      per_y[b] = 1.0 / totals.y[b];
    }
  }
}

// |F_x - F_y| summed over the gaps, 64 permutations side by side.
void GapScan::scan_weighted(const simd::SortedPool& line, std::span<double> taus) const {
  for (std::size_t g = 0, first = 0; first < count(); first += batches_[g].count, ++g) {
    const LabelLanes& per_x = per_x_[g];
    const LabelLanes& per_y = per_y_[g];
    SideWeights below;
    LabelLanes sums{};
    for (std::size_t k = 0; k + 1 < line.num_rows(); ++k) {
      const std::uint32_t row = line.order[k];
      const double gap = line.values[k + 1] - line.values[k];
      below.add(batches_[g].words[row], weights_[row]);
      for (std::size_t b = 0; b < sums.size(); ++b) {
        sums[b] += std::abs(below.x[b] * per_x[b] - below.y[b] * per_y[b]) * gap;
      }
    }
    const auto own = taus.subspan(first, std::min<std::size_t>(batches_[g].count, count() - first));
    std::copy_n(sums.begin(), own.size(), own.begin());
  }
}

// Errors of single precision are below 1e-6 of the sum. Gaps are small below 1e-4 of the range,
// and matter when they are most of the gaps: then no more than a thousandth of the range may be theirs.
GapPrecision precision_for(std::span<const double> sorted) {
  constexpr double kSmall = 1e-4;
  constexpr double kLost = 1e-3;
  if (sorted.empty()) return GapPrecision::single;
  const double range = sorted.back() - sorted.front();
  std::size_t num_gaps = 0;
  std::size_t num_small = 0;
  double small = 0.0;
  for (std::size_t k = 0; k + 1 < sorted.size(); ++k) {
    const double gap = sorted[k + 1] - sorted[k];
    if (!(gap > 0.0)) continue;
    ++num_gaps;
    if (gap >= kSmall * range) continue;
    ++num_small;
    small += gap;
  }
  return 2 * num_small > num_gaps && small < kLost * range ? GapPrecision::full : GapPrecision::single;
}

double gap_scan_slack(double tau, double range, std::size_t num_rows, bool weighted, GapPrecision precision) {
  const double eps = std::numeric_limits<double>::epsilon();
  if (!weighted) {
    // Running counts are exact, and a sum of non-negative terms keeps the relative error of its arithmetic.
    const double of_scan = precision == GapPrecision::full ? simd::label_scan_relative_error(num_rows)
                                                           : simd::label_scan_equal_relative_error(num_rows);
    return tau * 2.0 * (32.0 * eps + of_scan);
  }
  // Running weights, at most 1 in units of their sample, are rounded once per row, the sums over gaps as well, and the
  // samples' own weights before them: half an eps each, in both evaluations.
  return 4.0 * (static_cast<double>(num_rows) + 8.0) * eps * range;
}

}  // namespace kqd
