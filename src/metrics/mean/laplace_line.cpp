#include "metrics/mean/laplace_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "metrics/label_lanes.hpp"
#include "quantiles/sort.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerSum = 1024;
constexpr unsigned kLanes = LabelBatch::kCapacity;

std::vector<std::uint32_t> sorted_order(std::span<const double> values) {
  std::vector<std::uint32_t> order(values.size());
  argsort(values, order);
  return order;
}

// 1 - exp(-2 gap / s); 1 behind the last point. A gap that overflows is infinite, and the result is 1.
double gain_of(double gap, double bandwidth) {
  return -std::expm1(-2.0 * (gap / bandwidth));
}

}  // namespace

bool is_laplace_on_line(const KernelSpec& kernel, std::size_t dim) {
  return dim == 1 && (kernel.family == KernelFamily::laplace || kernel.family == KernelFamily::matern12);
}

LineNorms laplace_line_norms(double bandwidth, const SampleView& x, const SampleView& y) {
  const std::size_t nx = x.size();
  const std::size_t n = nx + y.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = i < nx ? x.points(i, 0) : y.points(i - nx, 0);
  const std::vector<std::uint32_t> order = sorted_order(values);
  const std::vector<double> a = normalised_weights(x);
  const std::vector<double> b = normalised_weights(y);
  CompensatedSum xx;
  CompensatedSum yy;
  CompensatedSum difference;
  double of_x = 0.0;
  double of_y = 0.0;
  double between = 0.0;
  for (std::size_t k = 0; k < n;) {
    // Equal points are added up first, so that points with the same mass in both samples add exactly 0 to `between`.
    const double here = values[order[k]];
    double mass_x = 0.0;
    double mass_y = 0.0;
    for (; k < n && values[order[k]] == here; ++k) {
      const std::size_t i = order[k];
      (i < nx ? mass_x : mass_y) += i < nx ? a[i] : b[i - nx];
    }
    of_x += mass_x;
    of_y += mass_y;
    between += mass_x - mass_y;
    const double gap = k < n ? values[order[k]] - here : std::numeric_limits<double>::infinity();
    const double gain = gain_of(gap, bandwidth);
    xx.add(of_x * of_x * gain);
    yy.add(of_y * of_y * gain);
    difference.add(between * between * gain);
    const double decay = std::exp(-(gap / bandwidth));
    of_x *= decay;
    of_y *= decay;
    between *= decay;
  }
  return {xx.value(), yy.value(), difference.value()};
}

double unbiased_from(const LineNorms& norms, const Concentration& squares) {
  // A group of one row has xx = 1, so the correction is 0.
  const auto excess = [](double norm, double square) {
    return square < 1.0 ? (1.0 - norm) * square / (1.0 - square) : 0.0;
  };
  return norms.difference - excess(norms.xx, squares.of_x) - excess(norms.yy, squares.of_y);
}

LaplaceLinePlan::LaplaceLinePlan(double bandwidth, const TestPool& pool, MmdEstimate estimate) : estimate_(estimate) {
  const Pool rows = pool.rows();
  const std::size_t n = rows.size();
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = rows.row(i)[0];
  std::vector<double> weights = pool.weights_of(pool.order);
  if (weights.empty()) weights.assign(n, 1.0);
  order_ = sorted_order(values);
  weights_.resize(n);
  decay_.resize(n);
  gain_.resize(n);
  total_.resize(n);
  CompensatedSum total_weight;
  CompensatedSum square_weights;
  CompensatedSum norm;
  for (std::size_t k = 0; k < n; ++k) {
    const double here = values[order_[k]];
    const double w = weights[order_[k]];
    const double gap = k + 1 < n ? values[order_[k + 1]] - here : std::numeric_limits<double>::infinity();
    weights_[k] = w;
    decay_[k] = k > 0 ? std::exp(-((here - values[order_[k - 1]]) / bandwidth)) : 0.0;
    gain_[k] = gain_of(gap, bandwidth);
    total_[k] = w + (k > 0 ? decay_[k] * total_[k - 1] : 0.0);
    total_weight.add(w);
    square_weights.add(w * w);
    norm.add(total_[k] * total_[k] * gain_[k]);
  }
  total_weight_ = total_weight.value();
  pooled_variance_ = std::max(0.0, 1.0 - norm.value() / (total_weight_ * total_weight_));
  const auto fewest = static_cast<double>(std::max<std::size_t>(2, std::min(pool.x.size(), pool.y.size())));
  concentration_ =
      2.0 * static_cast<double>(n) / (fewest - 1.0) * square_weights.value() / (total_weight_ * total_weight_);
}

void LaplaceLinePlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values,
                               ThreadCount threads) const {
  parallel_for_blocks(batches.size(), 1, threads, [&](std::size_t k, std::size_t) {
    evaluate_batch(batches[k], values.subspan(k * kLanes, batches[k].count));
  });
}

void LaplaceLinePlan::evaluate_batch(const LabelBatch& batch, std::span<double> values) const {
  const std::size_t n = num_rows();
  const bool unbiased = estimate_ == MmdEstimate::u;
  LabelLanes labels;
  std::array<CompensatedSum, kLanes> weight_sums;
  std::array<CompensatedSum, kLanes> square_sums;
  for (std::size_t begin = 0; begin < n; begin += kRowsPerSum) {
    LabelLanes weight_part{};
    LabelLanes square_part{};
    for (std::size_t k = begin; k < std::min(n, begin + kRowsPerSum); ++k) {
      expand_bits(batch.words[order_[k]], labels);
      const double w = weights_[k];
      for (unsigned b = 0; b < kLanes; ++b) weight_part[b] += w * labels[b];
      for (unsigned b = 0; b < kLanes; ++b) square_part[b] += w * w * labels[b];
    }
    for (unsigned b = 0; b < kLanes; ++b) weight_sums[b].add(weight_part[b]);
    for (unsigned b = 0; b < kLanes; ++b) square_sums[b].add(square_part[b]);
  }
  LabelLanes share;  // of X in the total weight
  for (unsigned b = 0; b < kLanes; ++b) share[b] = weight_sums[b].value() / total_weight_;

  // d = C of w (label - share) = C of X - share * C of the pool; the difference of the groups is d (1/Wx + 1/Wy).
  LabelLanes d{};
  std::array<CompensatedSum, kLanes> apart;
  std::array<CompensatedSum, kLanes> of_x;
  std::array<CompensatedSum, kLanes> of_y;
  for (std::size_t begin = 0; begin < n; begin += kRowsPerSum) {
    stop_point();
    LabelLanes apart_part{};
    LabelLanes x_part{};
    LabelLanes y_part{};
    for (std::size_t k = begin; k < std::min(n, begin + kRowsPerSum); ++k) {
      expand_bits(batch.words[order_[k]], labels);
      const double decay = decay_[k];
      const double w = weights_[k];
      const double gain = gain_[k];
      for (unsigned b = 0; b < kLanes; ++b) d[b] = decay * d[b] + w * (labels[b] - share[b]);
      for (unsigned b = 0; b < kLanes; ++b) apart_part[b] += d[b] * d[b] * gain;
      if (!unbiased) continue;
      const double total = total_[k];
      for (unsigned b = 0; b < kLanes; ++b) {
        const double c_x = d[b] + share[b] * total;
        const double c_y = total - c_x;
        x_part[b] += c_x * c_x * gain;
        y_part[b] += c_y * c_y * gain;
      }
    }
    for (unsigned b = 0; b < kLanes; ++b) {
      apart[b].add(apart_part[b]);
      of_x[b].add(x_part[b]);
      of_y[b].add(y_part[b]);
    }
  }
  CompensatedSum all_squares;
  if (unbiased) {
    for (const double w : weights_) all_squares.add(w * w);
  }
  for (std::size_t b = 0; b < values.size(); ++b) {
    const double wx = weight_sums[b].value();
    const double wy = total_weight_ - wx;
    const double scale = 1.0 / wx + 1.0 / wy;
    const double squared = apart[b].value() * scale * scale;
    if (unbiased) {
      const double square_x = square_sums[b].value();
      values[b] = unbiased_from({of_x[b].value() / (wx * wx), of_y[b].value() / (wy * wy), squared},
                                {square_x / (wx * wx), (all_squares.value() - square_x) / (wy * wy)});
    } else {
      values[b] = estimate_ == MmdEstimate::v_root ? std::sqrt(squared) : squared;
    }
  }
}

double LaplaceLinePlan::tie_slack(double value) const {
  // Each step of the pass rounds d three times, which is as if the measure had another mass of at most 1.5 eps |d| in
  // that place. |d| (1/Wx + 1/Wy) <= 1 and k = 1, so by the triangle inequality MMD_V is off by at most 1.5 N eps; two
  // values by twice that. The sum of squares then rounds by some 1024 eps of itself.
  const double eps = std::numeric_limits<double>::epsilon();
  const double root_slack = 3.0 * static_cast<double>(num_rows() + 2) * eps;
  if (estimate_ == MmdEstimate::v_root) return root_slack + 1040.0 * eps * std::abs(value);
  const double squared = std::abs(value) + (estimate_ == MmdEstimate::u ? concentration_ : 0.0);
  // The norms of the groups are below 1 and have at most twice that error, which is multiplied by the concentration.
  return 2.0 * root_slack * (std::sqrt(squared) + concentration_) + root_slack * root_slack +
         2080.0 * eps * (squared + concentration_);
}

}  // namespace kqd
