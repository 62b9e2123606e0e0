#include "metrics/covariance/covariance_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "kernel/kernel_traits.hpp"
#include "kqd/core/matrix.hpp"
#include "metrics/numerics.hpp"
#include "metrics/test_pool.hpp"
#include "simd/label_sums.hpp"

namespace kqd {
namespace {

constexpr std::size_t kTile = CentredGram::kTile;

// The sums of one permutation: over a tile of rows (double), or over all of them (CompensatedSum).
template <class Number>
struct Sums {
  Number weight{};       // sum of w over X
  Number form{};         // (w x)' K2 (w x)
  Number mean_form{};    // (w x)' G with G = K (w x)
  Number squares_x{};    // sum of w G^2 over X
  Number squares_all{};  // sum of w G^2
};

// (1 - t^2)-weighted terms are 0 for groups of equal weight, see the header.
double covariance_distance(const Sums<CompensatedSum>& sums, double wy) {
  const double wx = sums.weight.value();
  const double scale = 1.0 / wx + 1.0 / wy;
  const double ratio = wx / wy;
  const double skew = (1.0 - ratio) * (1.0 + ratio);  // 1 - t^2
  const double own = sums.squares_x.value() / (wx * wx * wx);
  const double other = (sums.squares_all.value() - sums.squares_x.value()) / (wx * wx * wy);
  const double norm = sums.mean_form.value() / (wx * wx);
  const double squared = sums.form.value() * scale * scale + 2.0 * skew * (other - own) + skew * skew * norm * norm;
  return std::sqrt(std::max(0.0, squared));
}

bool same_weight(const LabelBatch& batch) {
  for (unsigned b = 0; b < batch.count; ++b) {
    if (2 * batch.num_x[b] != batch.num_rows()) return false;
  }
  return true;
}

}  // namespace

KernelSpec squared_kernel(const KernelSpec& kernel) {
  const auto product = [](const KernelSpec& a, const KernelSpec& b) {
    KernelSpec spec;
    spec.family = KernelFamily::product;
    for (const KernelSpec* factor : {&a, &b}) {
      if (factor->family == KernelFamily::product) {
        spec.parts.insert(spec.parts.end(), factor->parts.begin(), factor->parts.end());
      } else {
        spec.parts.push_back(*factor);
      }
    }
    return spec;
  };
  if (kernel.family != KernelFamily::sum) return product(kernel, kernel);
  KernelSpec sum;
  sum.family = KernelFamily::sum;
  for (std::size_t i = 0; i < kernel.parts.size(); ++i) {
    for (std::size_t j = i; j < kernel.parts.size(); ++j) {
      sum.parts.push_back(product(kernel.parts[i], kernel.parts[j]));
      sum.parts.back().weight = (i == j ? 1.0 : 2.0) * kernel.parts[i].weight * kernel.parts[j].weight;
    }
  }
  return sum;
}

CovariancePlan::CovariancePlan(const Kernel& kernel, const TestPool& pool, const std::vector<std::size_t>& order,
                               ThreadCount threads)
    : gram_(kernel, pool, order, threads), square_means_(order.size()) {
  const std::size_t n = gram_.size();
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    Matrix<double> tile(end - begin, kTile);
    std::vector<CompensatedSum> sums(end - begin);
    for (std::size_t j = 0; j < n; j += kTile) {
      const std::size_t count = std::min(kTile, n - j);
      const auto here = tile.view().column_range(0, count);
      gram_.tile(begin, j, here);
      for (std::size_t i = 0; i < end - begin; ++i) {
        double part = 0.0;
        for (std::size_t k = 0; k < count; ++k) part += gram_.weight(j + k) * here(i, k) * here(i, k);
        sums[i].add(part);
      }
    }
    for (std::size_t i = begin; i < end; ++i) square_means_[i] = sums[i - begin].value() / gram_.total_weight();
  });
  CompensatedSum grand;
  CompensatedSum diagonal;
  for (std::size_t i = 0; i < n; ++i) {
    grand.add(gram_.weight(i) * square_means_[i]);
    diagonal.add(gram_.weight(i) * gram_.diagonal()[i] * gram_.diagonal()[i]);
  }
  square_grand_mean_ = grand.value() / gram_.total_weight();
  mean_square_diagonal_ = diagonal.value() / gram_.total_weight();
  require_finite(square_grand_mean_ + mean_square_diagonal_, "the covariance distance");
}

void CovariancePlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values,
                              ThreadCount threads) const {
  const std::size_t n = num_rows();
  const std::size_t permutation_count = values.size();
  // In groups of equal weight K p counts times 1 - t^2 = 0: then tiles below the diagonal are not needed either.
  const bool means = !gram_.weights().empty() || !std::ranges::all_of(batches, same_weight);
  const simd::RowGroupLabels labels(batches, permutation_count);
  Matrix<Sums<double>> sums(gram_.num_tiles(), permutation_count, Sums<double>{});
  parallel_for_blocks(n, kTile, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t columns = end - begin;
    std::vector<double> forms(permutation_count, 0.0);
    Matrix<double> mean_products(means ? permutation_count : 0, means ? columns : 0, 0.0);  // G of the columns
    Matrix<double> tile(kTile, columns);
    for (std::size_t j = 0; j < (means ? n : end); j += kTile) {
      stop_point();
      const std::size_t rows = std::min(kTile, n - j);
      const auto here = tile.view().row_range(0, rows);
      gram_.tile(j, begin, here);
      if (means) {
        Matrix<double> weighted;
        if (!gram_.weights().empty()) {
          weighted = Matrix<double>(MatrixView<const double>(here));
          for (std::size_t i = 0; i < rows; ++i) {
            for (double& value : weighted.row(i)) value *= gram_.weight(j + i);
          }
        }
        simd::add_labelled_rows(weighted.empty() ? here : weighted.view(), labels, j, mean_products);
      }
      if (j > begin) continue;  // tiles above the diagonal count for those below it too
      for (std::size_t i = 0; i < rows; ++i) {
        const double row_part = square_means_[j + i] - square_grand_mean_;
        for (std::size_t k = 0; k < columns; ++k)
          here(i, k) = here(i, k) * here(i, k) - (row_part + square_means_[begin + k]);
      }
      gram_.apply_weights(j, begin, here);
      simd::add_quadratic_forms(j == begin ? 1.0 : 2.0, here, labels, j, begin, forms);
    }
    for (std::size_t b = 0; b < permutation_count; ++b) {
      const LabelBatch& batch = batches[b / LabelBatch::kCapacity];
      Sums<double>& sum = sums(begin / kTile, b);
      sum.form = forms[b];
      for (std::size_t i = begin; i < end; ++i) {
        const double weight = gram_.weight(i);
        const double label = batch.is_x(i, b % LabelBatch::kCapacity) ? weight : 0.0;
        sum.weight += label;
        if (!means) continue;
        const double g = mean_products(b, i - begin);
        sum.mean_form += label * g;
        sum.squares_x += label * g * g;
        sum.squares_all += weight * g * g;
      }
    }
  });
  for (std::size_t b = 0; b < permutation_count; ++b) {
    Sums<CompensatedSum> total;
    for (std::size_t t = 0; t < gram_.num_tiles(); ++t) {
      const Sums<double>& part = sums(t, b);
      total.weight.add(part.weight);
      total.form.add(part.form);
      total.mean_form.add(part.mean_form);
      total.squares_x.add(part.squares_x);
      total.squares_all.add(part.squares_all);
    }
    const double wy = gram_.total_weight() - total.weight.value();
    if (!gram_.weights().empty()) require_weight_of_both(total.weight.value(), wy);
    values[b] = covariance_distance(total, wy);
  }
}

double CovariancePlan::tie_slack(double value) const {
  // As for the MMD: products of N terms round by at most N eps of the sums of magnitudes, which by Cauchy-Schwarz are
  // at most the mean of K_ii^2 for each of the three terms of the square (times 4: both groups and twice the cross
  // term).
  const double eps = std::numeric_limits<double>::epsilon();
  const double slack = 12.0 * static_cast<double>(num_rows()) * eps * mean_square_diagonal_;
  return std::min(std::sqrt(slack), value > 0.0 ? slack / value : std::sqrt(slack)) + 8.0 * eps * value;
}

double CovariancePlan::pooled_scale() const {
  return std::sqrt(std::max(0.0, mean_square_diagonal_ - square_grand_mean_));
}

}  // namespace kqd
