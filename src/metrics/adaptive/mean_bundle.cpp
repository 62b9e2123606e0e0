#include "metrics/adaptive/mean_bundle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "simd/label_sums.hpp"

namespace kqd {
namespace {

constexpr std::size_t kRowsPerTile = 256;
constexpr std::size_t kPermutationsPerTask = 256;
constexpr std::size_t kSlabBytes = std::size_t{16} << 20U;  // of values of functions that are held at once
constexpr std::size_t kMaxTasks = 16;  // partial sums that are kept apart until they are added in order
constexpr std::size_t kNumWhitened = 30;
constexpr double kRidge = 0.03;  // of the largest variance
// Error of a difference of means, in units of the sizes of the terms of one value: the mean of the pool, which is added
// with compensation, is off by some eps of them, and errors of single values average out.
constexpr double kMeanError = 16.0 * std::numeric_limits<double>::epsilon();

// z = (r^(1/3) - center) / spread for a sum r of squares divided by its mean [Wilson and Hilferty].
struct CubeRootScore {
  double center;
  double spread;

  explicit CubeRootScore(double degrees)
      : center(1.0 - 2.0 / (9.0 * degrees)), spread(std::sqrt(2.0 / (9.0 * degrees))) {}
};

std::size_t rows_per_task(std::size_t num_rows) {
  const std::size_t tiles = (num_rows + kRowsPerTile - 1) / kRowsPerTile;
  return (tiles + kMaxTasks - 1) / kMaxTasks * kRowsPerTile;
}

}  // namespace

MeanBundle::MeanBundle(std::vector<MeanFeatures> features, Pool pool, std::vector<double> weights,
                       std::size_t permutation_count, ThreadCount threads)
    : features_(std::move(features)),
      pool_(pool),
      num_rows_(pool.size()),
      num_positions_(pool.size()),
      weights_(std::move(weights)) {
  measure(threads);
  add_statistics(permutation_count);
}

MeanBundle::MeanBundle(std::vector<MeanFeatures> features, GroupedSummary& summary, std::size_t permutation_count,
                       ThreadCount threads)
    : features_(std::move(features)),
      pool_(summary.rows().pilot()),
      data_(summary.data()),
      num_rows_(data_->num_rows()),
      num_positions_(data_->num_units()) {
  measure(threads);
  weigh_units();
  add_statistics(permutation_count);
  for (const MeanFeatures& own : features_) unit_means_.push_back(summary.add_means(own.functions.map, threads));
}

MeanBundle::MeanBundle(std::vector<MeanFeatures> features, std::shared_ptr<const GroupedData> data,
                       std::vector<std::size_t> unit_means, std::vector<double> mean_squared_sizes,
                       std::size_t permutation_count)
    : features_(std::move(features)),
      pool_{},
      data_(std::move(data)),
      unit_means_(std::move(unit_means)),
      num_rows_(data_->num_rows()),
      num_positions_(data_->num_units()),
      means_(mean_squared_sizes.size(), 0.0),
      mean_squared_sizes_(std::move(mean_squared_sizes)) {
  weigh_units();
  add_statistics(permutation_count);
}

void MeanBundle::weigh_units() {
  total_weight_ = static_cast<double>(num_positions_);
  if (data_->equal_units()) return;
  weights_ = data_->unit_rows;
  total_weight_ = static_cast<double>(num_rows_);
}

void MeanBundle::add_statistics(std::size_t permutation_count) {
  std::size_t first = 0;
  for (std::size_t number = 0; number < features_.size(); ++number) {
    const MeanFeatures& own = features_[number];
    for (const MeanSummary summary : own.statistics) {
      statistics_.push_back(statistic(own, first, summary, permutation_count));
      statistics_.back().features = number;
    }
    first += own.count;
  }
}

void MeanBundle::measure(ThreadCount threads) {
  std::size_t count = 0;
  for (const MeanFeatures& own : features_) count += own.count;
  means_.assign(count, 0.0);
  const std::size_t step = rows_per_task(pool_.size());
  const std::size_t num_tasks = (pool_.size() + step - 1) / step;
  Matrix<double> sums(num_tasks, count, 0.0);
  Matrix<double> value_squares(num_tasks, count, 0.0);
  Matrix<double> size_squares(num_tasks, count, 0.0);
  parallel_for_blocks(pool_.size(), step, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<CompensatedSum> own(count);
    Matrix<double> tile(kRowsPerTile, count);
    Matrix<double> size_tile(kRowsPerTile, count);
    for (std::size_t first = begin; first < end; first += kRowsPerTile) {
      const std::size_t last = std::min(end, first + kRowsPerTile);
      const auto rows = tile.view().row_range(0, last - first);
      const auto sizes = size_tile.view().row_range(0, last - first);
      evaluate_rows(first, last, rows, sizes);
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        const double w = weight(first + i);
        for (std::size_t j = 0; j < count; ++j) {
          own[j].add(w * rows(i, j));
          value_squares(begin / step, j) += w * rows(i, j) * rows(i, j);
          size_squares(begin / step, j) += sizes(i, j) * sizes(i, j);
        }
      }
    }
    for (std::size_t j = 0; j < count; ++j) sums(begin / step, j) = own[j].value();
  });
  CompensatedSum total;
  for (std::size_t i = 0; i < pool_.size(); ++i) total.add(weight(i));
  total_weight_ = total.value();
  std::vector<double> mean_squares(count, 0.0);
  mean_squared_sizes_.assign(count, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    CompensatedSum sum;
    for (std::size_t t = 0; t < num_tasks; ++t) {
      sum.add(sums(t, j));
      mean_squares[j] += value_squares(t, j) / total_weight_;
      mean_squared_sizes_[j] += size_squares(t, j) / static_cast<double>(pool_.size());
    }
    means_[j] = sum.value() / total_weight_;
  }
  std::size_t first = 0;
  for (MeanFeatures& own : features_) {
    for (std::size_t j = first; j < first + own.count && own.variances.size() < own.count; ++j) {
      own.variances.push_back(mean_squares[j] - means_[j] * means_[j]);
    }
    first += own.count;
  }
}

MeanBundle::Statistic MeanBundle::statistic(const MeanFeatures& features, std::size_t first, MeanSummary summary,
                                            std::size_t permutation_count) const {
  // The sum of q whitened squares has mean q w and standard deviation sqrt(2 q) w, w = 1/nx + 1/ny >= 4/N. Values that
  // are closer than tie_slack(), 2 kMeanError sqrt(q w error), count as equal: that has to stay below the gap of two
  // neighbours, sqrt(2 q) w / permutation_count, or all of them become one.
  const double most_error = 2.0 / (static_cast<double>(num_rows_) * kMeanError * kMeanError *
                                   static_cast<double>(permutation_count) * static_cast<double>(permutation_count));
  Statistic made{
      .first = first, .factors = {}, .group_size = summary == MeanSummary::largest ? features.group_size : 0};
  if (summary == MeanSummary::group) {
    add_group_factors(features, first, most_error, made);
    return made;
  }
  const double ridge = summary == MeanSummary::fine ? kRidge * features.variances.front() : 0.0;
  for (std::size_t j = 0; j < features.count; ++j) {
    const double variance = features.variances[j];
    const double size = mean_squared_sizes_[first + j];
    switch (summary) {
      case MeanSummary::coarse:
        made.factors.push_back(1.0);
        made.error += size;
        break;
      case MeanSummary::fine:
        made.factors.push_back(1.0 / (variance + ridge));
        made.error += made.factors.back() * size;
        break;
      case MeanSummary::finest:
        if (j == kNumWhitened || (j > 0 && made.error + size / variance > most_error)) return made;
        made.factors.push_back(1.0 / variance);
        made.error += made.factors.back() * size;
        break;
      case MeanSummary::largest:
      case MeanSummary::average:
        // Functions of one value, or of rounding only, have a factor of 0.
        made.factors.push_back(variance * most_error > size && variance > 0.0 ? 1.0 / variance : 0.0);
        made.error += made.factors.back() * size;
        break;
      case MeanSummary::group:
        break;
    }
  }
  return made;
}

void MeanBundle::add_group_factors(const MeanFeatures& features, std::size_t first, double most_error,
                                   Statistic& made) const {
  made.groups = features.groups;
  std::size_t begin = 0;
  for (const FunctionGroup& group : features.groups) {
    const auto variances = std::span(features.variances).subspan(begin, group.size);
    const double ridge = kRareShare * std::max(0.0, sum(variances)) / static_cast<double>(group.size);
    double mean = 0.0;
    for (std::size_t j = 0; j < group.size; ++j) {
      const double variance = variances[j];
      const bool varies = variance > 0.0 && variance * most_error > mean_squared_sizes_[first + begin + j];
      made.factors.push_back(varies ? 1.0 / (variance + ridge) : 0.0);
      mean += made.factors.back() * variance;
    }
    double error = 0.0;
    for (std::size_t j = begin; j < begin + group.size; ++j) {
      if (mean > 0.0) made.factors[j] /= mean;
      error += made.factors[j] * mean_squared_sizes_[first + j];
    }
    made.error = std::max(made.error, error);
    begin += group.size;
  }
}

std::vector<std::string> MeanBundle::names() const {
  std::vector<std::string> names;
  for (const MeanFeatures& own : features_) {
    for (const MeanSummary summary : own.statistics) {
      names.push_back(own.name + std::array{", coarse", ", fine", ", finest", ", the largest", ", on average",
                                            ", the largest"}[static_cast<std::size_t>(summary)]);
    }
  }
  return names;
}

void MeanBundle::evaluate_rows(std::size_t begin, std::size_t end, MatrixView<double> values,
                               MatrixView<double> sizes) const {
  Matrix<double> rows(end - begin, pool_.dim());
  copy_rows(pool_, begin, rows);
  std::size_t first = 0;
  for (const MeanFeatures& own : features_) {
    const auto own_values = values.column_range(first, own.count);
    if (sizes.rows() > 0) {
      own.functions.map->evaluate_with_sizes(rows, own_values, sizes.column_range(first, own.count));
    } else {
      own.functions.map->evaluate(rows, own_values);
    }
    first += own.count;
  }
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t j = 0; j < values.cols(); ++j) values(i, j) -= means_[j];
  }
}

void MeanBundle::centred_functions(std::size_t begin, MatrixView<double> values) const {
  if (data_ == nullptr) return evaluate_rows(begin, begin + values.rows(), values);
  std::size_t first = 0;
  for (const std::size_t number : unit_means_) {
    const Matrix<double>& means = data_->unit_means[number];
    for (std::size_t i = 0; i < values.rows(); ++i) {
      std::ranges::copy(means.row(begin + i), values.row(i).subspan(first).begin());
    }
    first += means.cols();
  }
}

void MeanBundle::evaluate(std::span<const LabelBatch> batches, MatrixView<double> values, ThreadCount threads) const {
  const simd::RowGroupLabels labels(batches, values.cols());
  const FunctionSums sums = labelled_sums(labels, threads);
  parallel_for_blocks(values.cols(), kPermutationsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    const std::vector<double> scales = scales_of(sums, begin, end - begin);
    for (std::size_t r = 0; r < statistics_.size(); ++r) {
      read_differences(statistics_[r], sums, begin, scales, values.row(r).subspan(begin, end - begin));
    }
  });
}

// The functions sum to 0 over the pool: mean over X - mean over Y = S (1/W_X + 1/W_Y).
std::vector<double> MeanBundle::scales_of(const FunctionSums& sums, std::size_t begin, std::size_t count) const {
  std::vector<double> scales(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double of_x = sums(means_.size(), begin + k);
    scales[k] = total_weight_ / (of_x * (total_weight_ - of_x));
  }
  return scales;
}

// The last function is 1 for every row: its sum is the weight of the rows labelled X.
MeanBundle::FunctionSums MeanBundle::labelled_sums(const simd::RowGroupLabels& labels, ThreadCount threads) const {
  const std::size_t count = means_.size() + 1;
  FunctionSums sums(count, labels.permutation_count());
  const std::size_t num_tiles = (num_positions_ + kRowsPerTile - 1) / kRowsPerTile;
  const std::size_t slab_rows =
      std::clamp(kSlabBytes / (count * sizeof(double)) / kRowsPerTile, std::size_t{1}, num_tiles) * kRowsPerTile;
  // Values of one group of functions after another, so that their sums are added in one pass that stays in the cache.
  Matrix<double> slab(sums.num_groups() * slab_rows, FunctionSums::kGroup, 0.0);
  for (std::size_t begin = 0; begin < num_positions_; begin += slab_rows) {
    const std::size_t num_rows = std::min(slab_rows, num_positions_ - begin);
    parallel_for_blocks(num_rows, kRowsPerTile, threads, [&](std::size_t first, std::size_t last) {
      Matrix<double> tile(last - first, count, 1.0);
      centred_functions(begin + first, tile.view().column_range(0, count - 1));
      for (std::size_t i = first; i < last; ++i) {
        const double w = weight(begin + i);
        for (std::size_t j = 0; j < count; ++j) {
          slab(j / FunctionSums::kGroup * slab_rows + i, j % FunctionSums::kGroup) = w * tile(i - first, j);
        }
      }
    });
    parallel_for_blocks(sums.num_groups(), 1, threads, [&](std::size_t group, std::size_t) {
      for (std::size_t first = 0; first < num_rows; first += kRowsPerTile) {
        const std::size_t size = std::min(kRowsPerTile, num_rows - first);
        simd::add_labelled_rows(slab.view().row_range(group * slab_rows + first, size), labels, begin + first,
                                sums.group(group));
      }
    });
  }
  return sums;
}

template <class Visit>
void MeanBundle::for_each_group(const Statistic& statistic, const FunctionSums& sums, std::size_t begin,
                                std::span<const double> scales, Visit visit) const {
  const std::size_t num_factors = statistic.factors.size();
  const double rows_per_weight = static_cast<double>(num_rows_) / total_weight_;
  const auto size_of = [&](std::size_t group, std::size_t first) {
    if (!statistic.groups.empty()) return statistic.groups[group].size;
    return std::min(statistic.group_size == 0 ? num_factors : statistic.group_size, num_factors - first);
  };
  std::vector<double> values(scales.size());
  std::size_t j = 0;
  for (std::size_t group = 0; j < num_factors; ++group) {
    std::ranges::fill(values, 0.0);
    for (const std::size_t end = j + size_of(group, j); j < end; ++j) {
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double gap = (statistic.groups.empty() ? scales[k] : 1.0) * sums(statistic.first + j, begin + k);
        values[k] += statistic.factors[j] * gap * gap;
      }
    }
    if (!statistic.groups.empty()) {
      // A difference of means is a sum times the scale. Its variance under permutation is that of the function times
      // 1/nx + 1/ny, which is the scale in rows.
      const CubeRootScore score(statistic.groups[group].degrees);
      for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = (std::cbrt(rows_per_weight * scales[k] * values[k]) - score.center) / score.spread;
      }
    }
    visit(group, std::span<const double>(values));
  }
}

void MeanBundle::read_differences(const Statistic& statistic, const FunctionSums& sums, std::size_t begin,
                                  std::span<const double> scales, std::span<double> values) const {
  std::ranges::fill(values, statistic.groups.empty() ? 0.0 : std::numeric_limits<double>::lowest());
  for_each_group(statistic, sums, begin, scales, [&](std::size_t /*group*/, std::span<const double> of_group) {
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = std::max(values[k], of_group[k]);
  });
  if (statistic.group_size == 0) return;
  for (double& value : values) value = std::sqrt(value);
}

std::vector<std::string> MeanBundle::largest_parts(const LabelBatch& labels, ThreadCount threads) const {
  std::vector<std::string> parts(statistics_.size());
  if (std::ranges::all_of(features_, [](const MeanFeatures& own) { return own.labels.empty(); })) return parts;
  const FunctionSums sums = labelled_sums(simd::RowGroupLabels({&labels, 1}, 1), threads);
  const std::vector<double> scales = scales_of(sums, 0, 1);
  for (std::size_t r = 0; r < statistics_.size(); ++r) {
    const std::vector<std::string>& names = features_[statistics_[r].features].labels;
    if (!statistics_[r].is_largest() || names.empty()) continue;
    double largest = std::numeric_limits<double>::lowest();
    for_each_group(statistics_[r], sums, 0, scales, [&](std::size_t group, std::span<const double> values) {
      if (values[0] <= largest) return;
      largest = values[0];
      parts[r] = group < names.size() ? names[group] : "";
    });
  }
  return parts;
}

double MeanBundle::tie_slack(std::size_t r, double value) const {
  // A function is a sum of terms that may be much larger than it (a kernel column that hardly varies, points far from
  // 0): it has an error of eps times their sizes s_j, and so has the mean that is taken from it. The statistic feels
  // that as sqrt(value) times the error of d_j, once per function and times its factor, and near 0 as the square of it.
  // Sums of N centred values round by sqrt(N) eps of themselves.
  const Statistic& own = statistics_[r];
  const double error = own.error;
  if (!own.groups.empty()) return slack_of_groups(own);
  if (own.group_size > 0) {  // a root: half the relative error of its square
    const double of_square = slack_of_square(value * value, error);
    return std::min(std::sqrt(of_square), of_square / std::max(value, std::numeric_limits<double>::min()));
  }
  return slack_of_square(value, error);
}

double MeanBundle::slack_of_groups(const Statistic& statistic) const {
  const double least_scale = 4.0 / static_cast<double>(num_rows_);  // of differences: 1/nx + 1/ny or more
  double largest = 0.0;
  for (const FunctionGroup& group : statistic.groups) {
    const CubeRootScore score(group.degrees);
    // Slack falls as values rise; those below their mean, a score of 0, count for nothing.
    const double root = score.center;
    const double of_cube = slack_of_square(root * root * root * least_scale, statistic.error) / least_scale;
    // |a - b| <= |a^3 - b^3| / a^2, and at most the cube root of it.
    const double of_root =
        std::min(std::cbrt(of_cube), of_cube / std::max(root * root, std::numeric_limits<double>::min()));
    largest = std::max(largest, of_root / score.spread);
  }
  return largest;
}

double MeanBundle::slack_of_square(double value, double error) const {
  const double rounding = 4.0 * std::sqrt(static_cast<double>(num_rows_)) * std::numeric_limits<double>::epsilon();
  return 2.0 * rounding * value + 2.0 * kMeanError * std::sqrt(value * error) + kMeanError * kMeanError * error;
}

}  // namespace kqd
