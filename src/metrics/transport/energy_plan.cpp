#include "metrics/transport/energy_plan.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "core/executor.hpp"
#include "metrics/transport/weights.hpp"
#include "simd/label_scan.hpp"
#include "simd/label_words.hpp"

namespace kqd {

double mean_absolute_coordinate(std::size_t dim) {
  // 1 on the line, 2/pi in the plane, and Gamma(z + 1) = z Gamma(z) from there on.
  double value = dim % 2 == 1 ? 1.0 : 2.0 / std::numbers::pi;
  for (std::size_t d = dim % 2 == 1 ? 1 : 2; d < dim; d += 2) {
    value *= static_cast<double>(d) / static_cast<double>(d + 1);
  }
  return value;
}

EnergyPlan::EnergyPlan(const Directions& directions, const TestPool& pool, ThreadCount threads)
    : pool_(sorted_projections(directions, pool, pool.order, threads)),
      weights_(pool.weights_of(pool.order)),
      per_energy_(1.0 / mean_absolute_coordinate(directions.dim())) {
  // E|Z - Z'| = 2 integral F (1 - F) along each direction.
  const auto n = static_cast<double>(num_rows());
  CompensatedSum scale;
  for (std::size_t i = 0; i < pool_.values.rows(); ++i) {
    const auto values = pool_.values.row(i);
    CompensatedSum integral;
    for (std::size_t k = 0; k + 1 < values.size(); ++k) {
      const double level = static_cast<double>(k + 1) / n;
      integral.add(level * (1.0 - level) * (values[k + 1] - values[k]));
    }
    scale.add(2.0 * integral.value() * pool_.units[i]);
  }
  pooled_scale_ = per_energy_ * scale.value() / static_cast<double>(pool_.values.rows());
}

// The labels of a call, laid out once for all directions: several batches side by side.
struct EnergyPlan::Labels {
  struct Group {
    Matrix<std::uint64_t> words;
    std::vector<std::size_t> num_x;
  };

  explicit Labels(std::span<const LabelBatch> batches) {
    for (std::size_t first = 0; first < batches.size(); first += simd::kMaxLabelWords) {
      const auto together = batches.subspan(first, std::min(simd::kMaxLabelWords, batches.size() - first));
      Group group{simd::side_by_side(together), {}};
      for (const LabelBatch& batch : together) {
        group.num_x.insert(group.num_x.end(), batch.num_x.begin(), batch.num_x.begin() + batch.count);
      }
      groups.push_back(std::move(group));
    }
  }

  std::vector<Group> groups;
};

void EnergyPlan::scan(std::size_t direction, const Labels& labels, std::span<double> energies) const {
  const simd::SortedPool sorted{pool_.values.row(direction), pool_.order.row(direction)};
  const auto n = static_cast<double>(num_rows());
  for (const auto& [words, num_x] : labels.groups) {
    const auto sums = energies.first(num_x.size());
    simd::label_scan_squares(sorted, words, num_x, sums);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const auto nx = static_cast<double>(num_x[k]);
      const double per_count = n / (nx * (n - nx));
      sums[k] *= 2.0 * per_count * per_count;
    }
    energies = energies.subspan(num_x.size());
  }
}

double EnergyPlan::weighted_energy(std::size_t direction, const LabelBatch& batch, unsigned b) const {
  const auto places = pool_.order.row(direction);
  return energy_on_the_line(
      pool_.values.row(direction), [&](std::size_t k) { return batch.is_x(places[k], b); },
      [&](std::size_t k) { return weights_[places[k]]; });
}

void EnergyPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  const std::size_t l = pool_.values.rows();
  const Labels labels(weights_.empty() ? batches : std::span<const LabelBatch>{});
  Matrix<double> energies(l, values.size());
  parallel_for_blocks(l, 1, threads, [&](std::size_t i, std::size_t) {
    const auto along = energies.row(i);
    if (weights_.empty()) {
      scan(i, labels, along);
    } else {
      for (std::size_t k = 0; k < values.size(); ++k) {
        along[k] = weighted_energy(i, batches[k / LabelBatch::kCapacity], k % LabelBatch::kCapacity);
      }
    }
    for (double& energy : along) energy *= pool_.units[i];
  });
  for (std::size_t k = 0; k < values.size(); ++k) {
    CompensatedSum total;
    for (std::size_t i = 0; i < l; ++i) total.add(energies(i, k));
    values[k] = per_energy_ * total.value() / static_cast<double>(l);
  }
}

std::size_t EnergyPlan::batches_per_call() const {
  return weights_.empty() ? simd::kMaxLabelWords : 1;
}

double EnergyPlan::tie_slack(double value) const {
  const double eps = std::numeric_limits<double>::epsilon();
  // All terms are non-negative, so nothing cancels: the relative error of the sum is that of its arithmetic.
  if (weights_.empty()) return 2.0 * (simd::label_scan_relative_error(num_rows()) + 16.0 * eps) * value;
  // F - G is off by the rounding of two quotients, 2 eps, so its square by 4 eps |F - G|: over a range of 1 in the
  // direction's unit, twice that is 8 eps.
  return 16.0 * eps * (value + per_energy_ * *std::ranges::max_element(pool_.units));
}

}  // namespace kqd
