#include "kqd/kernel/bandwidth.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "core/scale.hpp"
#include "core/warning.hpp"
#include "kernel/column_scales.hpp"
#include "kernel/custom_kernel.hpp"
#include "kernel/families.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_traits.hpp"
#include "kernel/pairwise.hpp"
#include "kernel/resolve.hpp"
#include "simd/sort.hpp"

namespace kqd {
namespace {

// Pairwise quantities of the rows over i < j, or over all ordered pairs including i = j.
std::vector<double> pairwise_values(MatrixView<const double> rows, PairQuantity quantity, bool with_diagonal,
                                    std::span<const double> column_scales = {}) {
  const std::size_t n = rows.rows();
  Matrix<double> values(n, n);
  PairwiseBlock(quantity, rows, column_scales).evaluate(rows, values);
  std::vector<double> result;
  result.reserve(with_diagonal ? n * n : n * (n - 1) / 2);
  for (std::size_t i = 0; i < n; ++i) {
    // Each pair once from the upper triangle, mirrored if need be: the two roundings of a pair never disagree.
    for (std::size_t j = with_diagonal ? 0 : i + 1; j < n; ++j) {
      result.push_back(i == j ? 0.0 : values(std::min(i, j), std::max(i, j)));
    }
  }
  return result;
}

[[noreturn]] void fail_overflow() {
  fail(ErrorCode::non_finite_value, "distances between the pooled points overflow; {}", kOverflowAdvice);
}

// The median of a pool's distances; squared ones for the Gaussian, whose formula takes the median of r^2.
struct Medians {
  Medians(const Pool& pool, BandwidthRule rule, Seed seed, Warnings& warnings)
      : rows_(subsample(pool, kMaxMedianPoints, seed, Purpose::bandwidth_subsample)),
        rule_(rule),
        warnings_(warnings) {}

  double of(PairQuantity quantity, bool take_root, std::span<const double> column_scales) {
    auto values = rows_.rows() < 2
                      ? std::vector<double>{}
                      : pairwise_values(rows_, quantity, rule_ == BandwidthRule::median_with_diagonal, column_scales);
    if (take_root) {
      for (double& v : values) v = std::sqrt(v);
    }
    double result = values.empty() ? 0.0 : median(values);
    if (!std::isfinite(result)) fail_overflow();
    if (result > 0.0) return result;
    std::erase_if(values, [](double v) { return v <= 0.0; });
    if (!values.empty()) {
      result = median(values);
      const bool is_square = quantity == PairQuantity::squared_distance && !take_root;
      add(make_warning(WarningId::zero_median_distance, is_square ? std::sqrt(result) : result));
      return result;
    }
    add(make_warning(WarningId::zero_distances));
    return 0.0;
  }

 private:
  // Once, however many parts of a sum or product take their bandwidth from here.
  void add(Warning warning) {
    if (std::ranges::find(warnings_, warning) == warnings_.end()) warnings_.push_back(std::move(warning));
  }

  Matrix<double> rows_;
  BandwidthRule rule_;
  Warnings& warnings_;
};

double bandwidth_of(const FamilyInfo& family, const KernelSpec& leaf, Medians& medians) {
  if (family.median_rule == MedianRule::root_of_half_the_square) {
    const double m = medians.of(family.quantity, false, leaf.column_scales);
    return m > 0.0 ? std::sqrt(m / 2.0) : 1.0;
  }
  const double m = medians.of(family.quantity, family.quantity == PairQuantity::squared_distance, leaf.column_scales);
  return m > 0.0 ? m : 1.0;
}

void require_grid(const std::vector<double>& sorted_distances, std::size_t count) {
  if (sorted_distances.empty()) fail(ErrorCode::empty_sample, "a bandwidth grid needs at least two pooled points");
  if (count == 0) fail(ErrorCode::invalid_option, "a bandwidth grid of 0 values, expected at least 1");
}

std::vector<double> sorted_distances(const Pool& pool, PairQuantity quantity, bool take_root,
                                     std::span<const double> column_scales, Seed seed) {
  const Matrix<double> rows = subsample(pool, kMaxMedianPoints, seed, Purpose::bandwidth_subsample);
  auto values = pairwise_values(rows, quantity, false, column_scales);
  if (take_root) {
    for (double& v : values) v = std::sqrt(v);
  }
  if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) fail_overflow();
  simd::sort_ascending(values);
  return values;
}

double fraction_of(std::size_t i, std::size_t count) {
  return count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
}

}  // namespace

KernelSpec resolve(const KernelSpec& spec, const SampleView& x, const SampleView& y, BandwidthRule rule, Seed seed,
                   Warnings& warnings) {
  return resolve(spec, Pool{x.points, y.points, {}, x.roles.empty() ? y.roles : x.roles}, rule, seed, warnings);
}

KernelSpec resolve(const KernelSpec& spec, const Pool& pool, BandwidthRule rule, Seed seed, Warnings& warnings) {
  validate(spec);
  KernelSpec resolved = spec;
  std::optional<Medians> medians;  // the subsample is drawn when the first leaf asks for it
  for_each_leaf(resolved, [&](KernelSpec& leaf) {
    if (has_column_scales(leaf.family)) {
      if (leaf.column_scales.empty()) leaf.column_scales = column_scales(pool, seed);
      require_origin(leaf, pool.dim());
    }
    if (has_bandwidth(leaf.family) && !leaf.bandwidth) {
      if (!medians) medians.emplace(pool, rule, seed, warnings);
      leaf.bandwidth = bandwidth_of(family_info(leaf.family), leaf, *medians);
      if (*leaf.bandwidth < smallest_bandwidth(leaf.family)) {
        fail(ErrorCode::non_finite_value,
             "distances between the pooled points vanish when squared; rescale the columns");
      }
    }
    if (has_origin(leaf.family)) {
      if (leaf.origin.empty()) leaf.origin = pooled_mean(pool);
      require_origin(leaf, pool.dim());
    }
    if (leaf.family == KernelFamily::custom) require_kernel(leaf, pool, seed, warnings);
  });
  return resolved;
}

std::vector<double> pooled_distances(const SampleView& x, const SampleView& y, DistanceKind kind, Seed seed) {
  return pooled_distances(Pool{x.points, y.points}, kind, seed);
}

std::vector<double> pooled_distances(const Pool& pool, DistanceKind kind, Seed seed) {
  const bool l1 = kind == DistanceKind::l1;
  return sorted_distances(pool, l1 ? PairQuantity::l1_distance : PairQuantity::squared_distance, !l1, {}, seed);
}

std::vector<double> pooled_distances(const Pool& pool, const KernelSpec& kernel, Seed seed) {
  return sorted_distances(pool, PairQuantity::mixed_distance, true, kernel.column_scales, seed);
}

std::vector<double> geometric_bandwidth_grid(const std::vector<double>& sorted_distances, std::size_t count) {
  require_grid(sorted_distances, count);
  double low = sorted_distances.front();
  if (low < 0.1) low = std::max(sorted_percentile(sorted_distances, 0.05), 0.1);
  const double high = std::max(sorted_distances.back(), 0.3);
  const double first = std::log(low / 2.0);
  const double last = std::log(2.0 * high);
  std::vector<double> grid(count);
  for (std::size_t i = 0; i < count; ++i) grid[i] = std::exp(first + fraction_of(i, count) * (last - first));
  return grid;
}

std::vector<double> quantile_bandwidth_grid(const std::vector<double>& sorted_distances, std::size_t count) {
  require_grid(sorted_distances, count);
  const double first = sorted_percentile(sorted_distances, 0.05) / 2.0;
  const double last = 2.0 * sorted_percentile(sorted_distances, 0.95);
  std::vector<double> grid(count);
  for (std::size_t i = 0; i < count; ++i) grid[i] = first + fraction_of(i, count) * (last - first);
  return grid;
}

}  // namespace kqd
