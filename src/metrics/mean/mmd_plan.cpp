#include "metrics/mean/mmd_plan.hpp"
#include "metrics/numerics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"
#include "simd/label_sums.hpp"

namespace kqd {
MmdPlan::MmdPlan(Kernel kernel, const TestPool& pool, std::vector<std::size_t> order, MmdEstimate estimate,
                 ThreadCount threads)
    : gram_(std::move(kernel), pool, std::move(order), threads), estimate_(estimate) {
  const std::size_t n = gram_.size();
  CompensatedSum variance;
  terms_ = Matrix<double>(n, kNumSums);
  for (std::size_t i = 0; i < n; ++i) {
    const double weight = gram_.weight(i);
    const double centred = gram_.diagonal()[i];
    variance.add(weight * centred);
    terms_(i, kWeight) = weight;
    terms_(i, kSquare) = weight * weight;
    terms_(i, kDiagonal) = weight * weight * centred;
    terms_(i, kMean) = weight * gram_.row_means()[i];
    terms_(i, kSquareMean) = weight * weight * gram_.row_means()[i];
  }
  pooled_variance_ = variance.value() / gram_.total_weight();
  require_finite(pooled_variance_, "the MMD");
  for (std::size_t k = 0; k < kNumSums; ++k) {
    CompensatedSum total;
    for (std::size_t i = 0; i < n; ++i) total.add(terms_(i, k));
    totals_[k] = total.value();
  }
}

void MmdPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  constexpr std::size_t kTile = CentredGram::kTile;
  const std::size_t n = num_rows();
  const std::size_t num_tiles = gram_.num_tiles();
  const std::size_t permutation_count = values.size();
  const simd::RowGroupLabels labels(batches, permutation_count);
  // The terms that row tile t adds to the quadratic form and to the X sums of the permutations; added in order of t.
  Matrix<double> forms(num_tiles, permutation_count, 0.0);
  Matrix<double> sums(num_tiles * permutation_count, kNumSums, 0.0);
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t t = begin / kTile;
    Matrix<double> tile(end - begin, kTile);
    for (std::size_t j = begin; j < n; j += kTile) {
      stop_point();
      const auto own = tile.view().column_range(0, std::min(kTile, n - j));
      gram_.weighted_tile(begin, j, own);
      // Tiles right of the diagonal count for those below it too.
      simd::add_quadratic_forms(j == begin ? 1.0 : 2.0, own, labels, begin, j, forms.row(t));
    }
    simd::add_labelled_rows(terms_.view().row_range(begin, end - begin), labels, begin,
                            sums.view().row_range(t * permutation_count, permutation_count));
  });
  for (std::size_t b = 0; b < permutation_count; ++b) {
    CompensatedSum form;
    std::array<CompensatedSum, kNumSums> of_x;
    for (std::size_t t = 0; t < num_tiles; ++t) {
      form.add(forms(t, b));
      for (std::size_t k = 0; k < kNumSums; ++k) of_x[k].add(sums(t * permutation_count + b, k));
    }
    GroupSums x;
    for (std::size_t k = 0; k < kNumSums; ++k) x[k] = of_x[k].value();
    values[b] = estimate_from(form.value(), x);
  }
}

double MmdPlan::estimate_from(double q, const GroupSums& x) const {
  GroupSums y;
  for (std::size_t k = 0; k < kNumSums; ++k) y[k] = totals_[k] - x[k];
  const double wx = x[kWeight];
  const double wy = y[kWeight];
  if (!gram_.weights().empty()) require_weight_of_both(wx, wy);
  if (estimate_ != MmdEstimate::u) {
    const double squared = std::max(0.0, q * (1.0 / wx + 1.0 / wy) * (1.0 / wx + 1.0 / wy));
    return estimate_ == MmdEstimate::v_root ? std::sqrt(squared) : squared;
  }
  // sum_{i != j} a_i a_j k / (1 - sum a_i^2) within each group, a = w / W of the group. With unequal
  // weights this depends on the centre m of the kernel; the second term subtracts its trace <., m>.
  const auto within = [&](const GroupSums& group) {
    const double total = group[kWeight];
    const double squares = group[kSquare] / (total * total);
    if (!(squares < 1.0)) return q / (total * total);  // one row has no pairs
    const double centred = (q - group[kDiagonal]) / (total * total);
    const double trace = squares * group[kMean] / total - group[kSquareMean] / (total * total);
    return (centred + 2.0 * (gram_.weights().empty() ? 0.0 : trace)) / (1.0 - squares);
  };
  return within(x) + within(y) + 2.0 * q / (wx * wy);
}

double MmdPlan::tie_slack(double value) const {
  // A product of N terms rounds by at most N eps of the sum of magnitudes, which for the centred kernel is at most the
  // pooled variance by Cauchy-Schwarz (times 4: both groups and twice the cross term).
  const double eps = std::numeric_limits<double>::epsilon();
  const double slack = 4.0 * static_cast<double>(num_rows()) * eps * pooled_variance_;
  if (estimate_ != MmdEstimate::v_root) return slack + 8.0 * eps * std::abs(value);
  // sqrt(v^2 + s) - v <= min(sqrt s, s / (2 v))
  return std::min(std::sqrt(slack), value > 0.0 ? slack / value : std::sqrt(slack)) + 8.0 * eps * value;
}

}  // namespace kqd
