#include "metrics/features/locations.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/executor.hpp"
#include "core/random.hpp"
#include "core/summation.hpp"
#include "kernel/pairwise.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

// Steps of the ascent, of locations in units of the features and of the log width, and its stopping rule.
constexpr double kLocationStep = 0.1;
constexpr double kWidthStep = 0.01;
constexpr double kWorthwhile = 1e-3;   // relative growth ...
constexpr std::size_t kPatience = 50;  // ... within so many steps
constexpr double kWidthRange = 100.0;  // the width stays within this factor of where it starts

Matrix<double> squared_distances(MatrixView<const double> rows, MatrixView<const double> points) {
  Matrix<double> distances(rows.rows(), points.rows());
  PairwiseBlock(PairQuantity::squared_distance, points).evaluate(rows, distances);
  return distances;
}

double squared_norm(std::span<const double> values) {
  double total = 0.0;
  for (const double v : values) total += v * v;
  return total;
}

}  // namespace

void GaussianBumps::evaluate(const Locations& at, MatrixView<const double> rows, MatrixView<double> features) const {
  PairwiseBlock(PairQuantity::squared_distance, at.points).evaluate(rows, features);
  const double scale = -0.5 / (at.width * at.width);
  for (std::size_t i = 0; i < features.rows(); ++i) {
    for (double& v : features.row(i)) v = std::exp(scale * v);
  }
}

// d k / d v = k (x - v) / s^2 and d k / d log s = k |x - v|^2 / s^2.
void GaussianBumps::add_gradient(const Locations& at, MatrixView<const double> rows, MatrixView<const double> slopes,
                                 MatrixView<double> by_points, double& by_log_width) const {
  const double inverse = 1.0 / (at.width * at.width);
  Matrix<double> pulls = squared_distances(rows, at.points);
  std::vector<double> total_pull(at.points.rows(), 0.0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (std::size_t j = 0; j < pulls.cols(); ++j) {
      const double squared = pulls(i, j) * inverse;
      const double pull = slopes(i, j) * std::exp(-0.5 * squared);
      by_log_width += pull * squared;
      pulls(i, j) = pull * inverse;
      total_pull[j] += pulls(i, j);
    }
  }
  simd::multiply(pulls, simd::Op::transpose, rows, simd::Op::none, by_points, simd::Into::add);
  for (std::size_t j = 0; j < total_pull.size(); ++j) {
    for (std::size_t k = 0; k < by_points.cols(); ++k) by_points(j, k) -= total_pull[j] * at.points(j, k);
  }
}

Matrix<double> WindowedWaves::scaled(MatrixView<const double> rows, double width) const {
  Matrix<double> moved(rows);
  for (std::size_t i = 0; i < moved.rows(); ++i) {
    for (std::size_t k = 0; k < moved.cols(); ++k) moved(i, k) = (moved(i, k) - origin_[k]) / width;
  }
  return moved;
}

void WindowedWaves::evaluate(const Locations& at, MatrixView<const double> rows, MatrixView<double> features) const {
  const std::size_t j = at.points.rows();
  const Matrix<double> t = scaled(rows, at.width);
  Matrix<double> angles(rows.rows(), j);
  simd::multiply(t, simd::Op::none, at.points, simd::Op::transpose, angles);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double window = std::exp(-0.5 * squared_norm(t.row(i)));
    for (std::size_t k = 0; k < j; ++k) {
      features(i, k) = window * std::sin(angles(i, k));
      features(i, j + k) = window * std::cos(angles(i, k));
    }
  }
}

// With t = (x - o)/s and a = v.t: the waves turn by d a = t.dv - a d log s, the window grows by |t|^2 d log s.
void WindowedWaves::add_gradient(const Locations& at, MatrixView<const double> rows, MatrixView<const double> slopes,
                                 MatrixView<double> by_points, double& by_log_width) const {
  const std::size_t j = at.points.rows();
  const Matrix<double> t = scaled(rows, at.width);
  Matrix<double> angles(rows.rows(), j);
  simd::multiply(t, simd::Op::none, at.points, simd::Op::transpose, angles);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const double squared = squared_norm(t.row(i));
    const double window = std::exp(-0.5 * squared);
    for (std::size_t k = 0; k < j; ++k) {
      const double sine = window * std::sin(angles(i, k));
      const double cosine = window * std::cos(angles(i, k));
      const double turn = slopes(i, k) * cosine - slopes(i, j + k) * sine;
      by_log_width += (slopes(i, k) * sine + slopes(i, j + k) * cosine) * squared - turn * angles(i, k);
      angles(i, k) = turn;
    }
  }
  simd::multiply(angles, simd::Op::transpose, t, simd::Op::none, by_points, simd::Into::add);
}

Matrix<double> draw_from_fitted_gaussian(const Pool& rows, std::span<const double> weights, std::size_t count,
                                         std::size_t first, Seed seed) {
  const std::size_t n = rows.size();
  std::vector<double> shares(n, 1.0 / static_cast<double>(n));
  if (!weights.empty()) {
    shares = scaled_near_one(weights);
    const double total = sum(shares);
    for (double& share : shares) share /= total;
  }
  // Deviations from the plain mean first: the weighted mean is then a small correction.
  const std::vector<double> origin = pooled_mean(rows);
  std::vector<CompensatedSum> sums(rows.dim());
  double squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = rows.row(i);
    squares += shares[i] * shares[i];
    for (std::size_t k = 0; k < row.size(); ++k) sums[k].add(shares[i] * (row[k] - origin[k]));
  }
  std::vector<double> mean(rows.dim());
  for (std::size_t k = 0; k < mean.size(); ++k) mean[k] = origin[k] + sums[k].value();

  Matrix<double> drawn(count, rows.dim());
  for (std::size_t j = 0; j < count; ++j) std::ranges::copy(mean, drawn.row(j).begin());
  std::vector<RandomStream> streams;
  for (std::size_t j = 0; j < count; ++j) streams.emplace_back(seed, Purpose::locations, first + j);
  Matrix<double> coefficients(count, kFeatureRows);
  Matrix<double> block(kFeatureRows, rows.dim());
  for (std::size_t begin = 0; begin < n; begin += kFeatureRows) {
    const std::size_t size = std::min(kFeatureRows, n - begin);
    const auto deviations = block.view().row_range(0, size);
    copy_rows(rows, begin, deviations);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < mean.size(); ++k) deviations(i, k) -= mean[k];
      const double scale = std::sqrt(shares[begin + i] / (1.0 - squares));
      for (std::size_t j = 0; j < count; ++j) coefficients(j, i) = scale * streams[j].normal();
    }
    simd::multiply(coefficients.view().column_range(0, size), simd::Op::none, deviations, simd::Op::none, drawn,
                   simd::Into::add);
  }
  return drawn;
}

Criterion criterion(const LocationFeatures& features, const Locations& at, const SampleView& x, const SampleView& y,
                    double ridge) {
  using Features = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  struct Group {
    MatrixView<const double> rows;
    Eigen::VectorXd shares;
    double squares = 0.0;  // sum of squared shares
    double factor = 0.0;   // of the weighted scatter: s / (1 - s)
    Features centred;
    Eigen::VectorXd mean;
  };
  const auto f = static_cast<Eigen::Index>(features.count(at.points.rows()));
  const auto group_of = [&](const SampleView& sample) {
    const std::vector<double> shares = normalised_weights(sample);
    const auto n = static_cast<Eigen::Index>(shares.size());
    Group group{sample.points, Eigen::Map<const Eigen::VectorXd>(shares.data(), n), 0.0, 0.0, Features(n, f), {}};
    features.evaluate(at, sample.points, {group.centred.data(), shares.size(), static_cast<std::size_t>(f)});
    group.squares = group.shares.squaredNorm();
    group.factor = group.squares / (1.0 - group.squares);
    group.mean = group.centred.transpose() * group.shares;
    group.centred.rowwise() -= group.mean.transpose();
    return group;
  };
  const Group gx = group_of(x);
  const Group gy = group_of(y);
  const Eigen::VectorXd gap = gx.mean - gy.mean;
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(f, f) * (0.5 * ridge * (gx.squares + gy.squares));
  for (const Group* group : {&gx, &gy}) {
    covariance += group->factor * (group->centred.transpose() * group->shares.asDiagonal() * group->centred);
  }
  const Eigen::VectorXd solved = covariance.ldlt().solve(gap);  // S^-1 gap, a factor of the gradient

  Criterion found{gap.dot(solved), Matrix<double>(at.points.rows(), at.points.cols(), 0.0), 0.0};
  for (const auto& [group, sign] : {std::pair{&gx, 1.0}, std::pair{&gy, -1.0}}) {
    // d T = 2 e.dz - 2 s/(1-s) sum_i a_i (e.(g_i - m)) (e.dg_i) of each group; the deviations of dg sum to 0.
    const Eigen::VectorXd heights = group->centred * solved;
    const Eigen::VectorXd by_row = (2.0 * group->shares.array() * (sign - group->factor * heights.array())).matrix();
    const Features slopes = by_row * solved.transpose();
    features.add_gradient(
        at, group->rows,
        {slopes.data(), static_cast<std::size_t>(slopes.rows()), static_cast<std::size_t>(slopes.cols())},
        found.by_points, found.by_log_width);
  }
  return found;
}

Locations optimise_locations(const LocationFeatures& features, Locations start, const SampleView& x,
                             const SampleView& y, double ridge, std::size_t max_steps) {
  const double start_width = start.width;
  Locations at = start;
  Locations best = std::move(start);
  double best_value = -1.0;
  double worth_waiting_for = 0.0;
  std::size_t waited = 0;
  for (std::size_t step = 1; step <= max_steps + 1; ++step) {
    stop_point();
    const Criterion here = criterion(features, at, x, y, ridge);
    if (!std::isfinite(here.value)) break;
    if (here.value > best_value) {
      best_value = here.value;
      best = at;
    }
    waited = best_value > worth_waiting_for ? 0 : waited + 1;
    if (waited == 0) worth_waiting_for = best_value * (1.0 + kWorthwhile);
    const double length = std::sqrt(squared_norm(here.by_points.values()));
    if (step > max_steps || waited >= kPatience || !(length > 0.0) || !std::isfinite(length)) break;
    const double shrink = 1.0 / std::sqrt(static_cast<double>(step));
    // The J locations together move by sqrt(J) steps, which is one step each if their gradients have equal length.
    const double stride =
        kLocationStep * shrink * features.unit(at) * std::sqrt(static_cast<double>(at.points.rows())) / length;
    for (std::size_t i = 0; i < at.points.values().size(); ++i) {
      at.points.values()[i] += stride * here.by_points.values()[i];
    }
    const double turn = here.by_log_width > 0.0 ? kWidthStep : -kWidthStep;
    at.width = std::clamp(at.width * std::exp(shrink * turn), start_width / kWidthRange, start_width * kWidthRange);
  }
  return best;
}

}  // namespace kqd
