#include "metrics/quantile/kqd_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/summation.hpp"
#include "metrics/quantile/pooled_projections.hpp"
#include "quantiles/quantile_gap.hpp"
#include "quantiles/weighted_quantiles.hpp"
#include "simd/label_scan.hpp"
#include "simd/label_split.hpp"
#include "simd/label_words.hpp"

namespace kqd {
namespace {

constexpr double kLargestSplitPower = 8.0;  // beyond it gaps are divided by the largest one first

// Calls use(k, column k). A few columns are copied at a time, as they share cache lines.
template <class Use>
void for_each_column(const Matrix<double>& matrix, Use use) {
  constexpr std::size_t kColumns = 8;
  Matrix<double> columns(kColumns, matrix.rows());
  for (std::size_t first = 0; first < matrix.cols(); first += kColumns) {
    const std::size_t count = std::min(kColumns, matrix.cols() - first);
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      for (std::size_t k = 0; k < count; ++k) columns(k, i) = matrix(i, first + k);
    }
    for (std::size_t k = 0; k < count; ++k) use(first + k, columns.row(k));
  }
}

}  // namespace

KqdPlan::KqdPlan(const Directions& directions, const TestPool& pool, const std::vector<std::size_t>& order,
                 const MethodOptions& options, Over over, std::unique_ptr<const MmdPlan> mmd)
    : KqdPlan(project_pool(directions, {pool.x.points, pool.y.points, order}, 0, directions.count(), options.threads),
              pool.weights_of(order), options, over, std::move(mmd)) {}

KqdPlan::KqdPlan(Matrix<double> projections, std::vector<double> weights, const MethodOptions& options, Over over,
                 std::unique_ptr<const MmdPlan> mmd, GapWeight weight)
    : over_(over),
      power_(options.power),
      weighting_(options.weighting),
      point_evaluated_levels_(options.point_evaluated_levels),
      weights_(std::move(weights)),
      mmd_(std::move(mmd)) {
  require_levels_known(options.point_evaluated_levels, !weights_.empty());
  PooledProjections sorted = sort_projections(std::move(projections), weight, options.threads);
  values_ = std::move(sorted.values);
  order_ = std::move(sorted.order);
  units_ = std::move(sorted.units);
  pooled_scale_ = sorted.root_mean_variance;
  num_flat_ = sorted.num_flat;
  if (!scannable()) return;
  for (std::size_t i = 0; i < num_directions(); ++i) precisions_.push_back(precision_for(values_.row(i)));
}

KqdPlan::~KqdPlan() = default;

bool KqdPlan::scannable() const {
  return power_ == 1.0 && weighting_.is_uniform() && !point_evaluated_levels_ && mmd_ == nullptr &&
         num_rows() <= simd::kMaxScanRows;
}

bool KqdPlan::splittable() const {
  const bool centered_by_sum = mmd_ == nullptr || power_ == 2.0;  // then the shift comes out of the integral
  return weights_.empty() && centered_by_sum && (power_ <= kLargestSplitPower || std::isinf(power_));
}

// The permutations of one call along one direction after another: taus[k] for permutation k, rooted, in the direction's
// unit.
class KqdPlan::Evaluation {
 public:
  Evaluation(const KqdPlan& plan, std::span<const LabelBatch> batches, std::size_t permutation_count,
             ThreadCount threads)
      : plan_(plan), batches_(batches), permutation_count_(permutation_count) {
    if (plan.mmd_) {
      mmd_squared_.resize(permutation_count);
      plan.mmd_->evaluate(batches, mmd_squared_, threads);
    }
    if (plan.scannable()) {
      scan_.emplace(batches, permutation_count, plan.weights_);
    } else if (plan.weights_.empty()) {
      for (const LabelBatch& batch : batches) {
        for (unsigned b = 0; b < batch.count; ++b) make_grid(batch.num_x[b]);
      }
    }
  }

  void taus_along(std::size_t direction, std::span<double> taus) const {
    if (scan_) {
      scan_->along({plan_.values_.row(direction), plan_.order_.row(direction)}, plan_.precisions_[direction], taus);
      return;
    }
    if (plan_.splittable()) return split(direction, taus);
    for (std::size_t k = 0; k < permutation_count_; ++k) taus[k] = tau_by_quantiles(direction, k);
  }

 private:
  void make_grid(std::size_t nx) {
    if (grids_.contains(nx)) return;
    grids_.emplace(nx, LevelGrid(nx, plan_.num_rows() - nx, plan_.weighting_, plan_.point_evaluated_levels_));
  }

  void split(std::size_t direction, std::span<double> taus) const {
    simd::LabelSplitter splitter;
    const bool centered = plan_.mmd_ != nullptr;
    std::vector<double> x_sums(centered ? LabelBatch::kCapacity : 0);
    const double total = centered ? sum(plan_.values_.row(direction)) : 0.0;
    std::size_t first = 0;
    for (const LabelBatch& batch : batches_) {
      std::vector<simd::LevelPieces> pieces;
      for (unsigned b = 0; b < batch.count; ++b) {
        const LevelGrid& grid = grids_.at(batch.num_x[b]);
        pieces.push_back({grid.num_pieces(), grid.masses(), grid.steps()});
      }
      const auto integrals = taus.subspan(first, batch.count);
      const auto batch_sums = std::span(x_sums).first(centered ? batch.count : 0);
      splitter.set_labels(plan_.order_.row(direction), {batch.words.data(), batch.num_rows(), 1}, batch.count);
      splitter.integrate(plan_.values_.row(direction), pieces, plan_.power_, integrals, batch_sums);
      for (unsigned b = 0; b < batch.count; ++b) {
        const bool unit_mass = pieces[b].mass.empty() && !std::isinf(plan_.power_);
        double value = unit_mass ? integrals[b] / static_cast<double>(pieces[b].count) : integrals[b];
        if (centered) {
          const auto nx = static_cast<double>(batch.num_x[b]);
          const double mean_gap = x_sums[b] / nx - (total - x_sums[b]) / (static_cast<double>(plan_.num_rows()) - nx);
          value = std::max(0.0, value + shift_in_units(direction, first + b, mean_gap));
        }
        integrals[b] = std::isinf(plan_.power_) ? value : std::pow(value, 1.0 / plan_.power_);
      }
      first += batch.count;
    }
  }

  // MMD^2 - c^2 of a permutation, in the square of the direction's unit.
  [[nodiscard]] double shift_in_units(std::size_t direction, std::size_t permutation, double mean_gap) const {
    return mmd_squared_[permutation] / (plan_.units_[direction] * plan_.units_[direction]) - mean_gap * mean_gap;
  }

  // Any weights, power and form: the two quantile functions of one permutation, compared as a distance would.
  [[nodiscard]] double tau_by_quantiles(std::size_t direction, std::size_t permutation) const {
    const LabelBatch& batch = batches_[permutation / LabelBatch::kCapacity];
    const unsigned b = permutation % LabelBatch::kCapacity;
    const auto values = plan_.values_.row(direction);
    const auto places = plan_.order_.row(direction);
    WeightedQuantiles x;
    WeightedQuantiles y;
    for (std::size_t k = 0; k < values.size(); ++k) {
      WeightedQuantiles& group = batch.is_x(places[k], b) ? x : y;
      group.add(values[k], plan_.weights_.empty() ? 1.0 : plan_.weights_[places[k]]);
    }
    GapForm form;
    if (plan_.mmd_) form = {.centered = true, .shift = shift_in_units(direction, permutation, x.mean() - y.mean())};
    if (plan_.weights_.empty()) {
      return quantile_gap(x.values(), y.values(), grids_.at(batch.num_x[b]), Power{plan_.power_}, form);
    }
    return quantile_gap(x.function(), y.function(), plan_.weighting_, Power{plan_.power_}, form);
  }

  const KqdPlan& plan_;
  std::span<const LabelBatch> batches_;
  std::size_t permutation_count_;
  std::vector<double> mmd_squared_;
  std::optional<GapScan> scan_;
  std::map<std::size_t, LevelGrid> grids_;
};

void KqdPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values, ThreadCount threads) const {
  evaluate_over_directions(over_, power_, batches, values, threads);
}

void DirectionalPlan::evaluate_over_directions(Over over, double power, std::span<const LabelBatch> batches,
                                               std::span<double> values, ThreadCount threads) const {
  Matrix<double> taus(num_directions(), values.size());
  evaluate_directions(batches, taus, threads);
  for_each_column(taus,
                  [&](std::size_t k, std::span<const double> tau) { values[k] = over_directions(over, tau, power); });
}

void DirectionalPlan::evaluate_with_halves(std::span<const LabelBatch> batches, std::span<double> values,
                                           MatrixView<double> halves, ThreadCount threads) const {
  Matrix<double> taus(num_directions(), values.size());
  evaluate_directions(batches, taus, threads);
  for_each_column(taus, [&](std::size_t k, std::span<const double> tau) {
    const HalvedStatistic found = over_halves(*over_of_halves_, tau, power_of_halves_);
    values[k] = found.all;
    halves(0, k) = found.halves[0];
    halves(1, k) = found.halves[1];
  });
}

void KqdPlan::evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                                  ThreadCount threads) const {
  const Evaluation evaluation(*this, batches, taus.cols(), threads);
  parallel_for_blocks(taus.rows(), 1, threads, [&](std::size_t i, std::size_t) {
    evaluation.taus_along(i, taus.row(i));
    for (double& tau : taus.row(i)) tau *= units_[i];
  });
}

std::vector<double> KqdPlan::expected_gaps() const {
  std::vector<double> gaps(values_.rows());
  const std::vector<double> levels = gaps.empty() ? std::vector<double>{} : pooled_levels(order_.row(0), {});
  for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i] = expected_gap(values_.row(i), levels) * units_[i];
  return gaps;
}

std::vector<double> DirectionalPlan::per_direction(const LabelBatch& batch, ThreadCount threads) const {
  LabelBatch single;
  single.count = 1;
  single.num_x[0] = batch.num_x[0];
  single.words.resize(batch.words.size());
  for (std::size_t i = 0; i < batch.words.size(); ++i) single.words[i] = batch.words[i] & 1U;
  std::vector<double> taus(num_directions());
  evaluate_directions({&single, 1}, {taus.data(), taus.size(), 1, 1}, threads);
  return taus;
}

std::size_t KqdPlan::batches_per_call() const {
  if (mmd_ != nullptr) return std::numeric_limits<std::size_t>::max();  // one pass over the Gram matrix for all
  return scannable() ? simd::kMaxLabelWords : 1;
}

double KqdPlan::largest_range() const {
  return *std::ranges::max_element(units_);
}

GapPrecision KqdPlan::lowest_precision() const {
  const bool all_full = std::ranges::all_of(precisions_, [](GapPrecision p) { return p == GapPrecision::full; });
  return all_full ? GapPrecision::full : GapPrecision::single;
}

double KqdPlan::tie_slack(double value, double largest_range, GapPrecision lowest_precision) const {
  if (scannable()) return gap_scan_slack(value, largest_range, num_rows(), !weights_.empty(), lowest_precision);
  const double eps = std::numeric_limits<double>::epsilon();
  // Every tau is a sum of non-negative terms, so its relative error is that of its arithmetic; means, maxima and roots
  // keep it, and add a few roundings of their own (the last term: the power mean over l directions is compensated).
  double relative = 32.0 * eps;
  if (splittable()) {
    relative += simd::label_split_relative_error(num_rows(), std::isinf(power_) ? 1.0 : power_);
  } else {
    relative += 600.0 * eps;  // blocks of 512 terms (simd/gap_sum.hpp)
  }
  double slack = 2.0 * relative * value;
  if (mmd_ != nullptr && value > 0.0) {
    // The square is D^2 + MMD^2 - c^2 with c^2 <= MMD^2 <= value^2 and D^2 <= 2 value^2: relative errors of each count
    // at most four times, and the MMD's absolute error is carried through the root.
    slack = 4.0 * slack + mmd_->tie_slack(value * value) / value;
  }
  return slack;
}

StreamedKqdPlan::StreamedKqdPlan(std::shared_ptr<const Directions> directions, const TestPool& pool,
                                 std::vector<std::size_t> order, const MethodOptions& options, Over over,
                                 std::size_t max_bytes)
    : directions_(std::move(directions)),
      x_(pool.x),
      y_(pool.y),
      order_(std::move(order)),
      weights_(pool.weights_of(order_)),
      options_(options),
      over_(over),
      // The kept part and the one at work share the room.
      directions_at_a_time_(std::min(directions_->count(),
                                     directions_that_fit(max_bytes / 2, KqdPlan::bytes_per_direction(order_.size())))) {
  double variances = 0.0;
  for (std::size_t i = 0; i < num_directions(); i += directions_at_a_time_) {
    std::unique_ptr<const KqdPlan> own = part(i, options.threads);
    variances += own->pooled_scale() * own->pooled_scale() * static_cast<double>(own->num_directions());
    num_flat_ += own->num_flat();
    largest_range_ = std::max(largest_range_, own->largest_range());
    lowest_precision_ = std::min(lowest_precision_, own->lowest_precision());
    if (i == 0) first_ = std::move(own);
  }
  pooled_scale_ = std::sqrt(variances / static_cast<double>(num_directions()));
}

std::unique_ptr<const KqdPlan> StreamedKqdPlan::part(std::size_t first, ThreadCount threads) const {
  const std::size_t count = std::min(directions_at_a_time_, num_directions() - first);
  return std::make_unique<const KqdPlan>(
      project_pool(*directions_, {x_.points, y_.points, order_}, first, count, threads), weights_, options_, over_);
}

void StreamedKqdPlan::evaluate_directions(std::span<const LabelBatch> batches, MatrixView<double> taus,
                                          ThreadCount threads) const {
  first_->evaluate_directions(batches, taus.row_range(0, first_->num_directions()), threads);
  for (std::size_t i = directions_at_a_time_; i < num_directions(); i += directions_at_a_time_) {
    stop_point();
    const auto own = part(i, threads);
    own->evaluate_directions(batches, taus.row_range(i, own->num_directions()), threads);
  }
}

void StreamedKqdPlan::evaluate(std::span<const LabelBatch> batches, std::span<double> values,
                               ThreadCount threads) const {
  evaluate_over_directions(over_, options_.power, batches, values, threads);
}

}  // namespace kqd
