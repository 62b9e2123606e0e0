#include "explain/witness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/executor.hpp"
#include "core/summation.hpp"
#include "directions/principal.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_gradient.hpp"
#include "simd/matrix_product.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxFitRows = 10'000;
constexpr std::size_t kMaxTuningRows = 2'500;  // for the choice of the bandwidth
constexpr std::size_t kMaxLandmarks = 256;
constexpr std::size_t kTuningLandmarks = 128;
constexpr std::size_t kRowsPerBlock = 256;
constexpr std::array<double, 7> kRidges = {1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4};  // relative to the largest variance
constexpr std::array<double, 3> kBandwidthFactors = {1.0, 0.5, 2.0};

// Kernels with the bandwidths to try; a kernel of several parts, or without a bandwidth, is the only candidate.
std::vector<KernelSpec> candidates(const KernelSpec& kernel) {
  const auto bandwidth = first_bandwidth(kernel);
  if (!bandwidth || !kernel.parts.empty()) return {kernel};
  std::vector<KernelSpec> specs;
  for (const double factor : kBandwidthFactors) {
    KernelSpec spec = kernel;
    spec.bandwidth = factor * *bandwidth;
    specs.push_back(spec);
  }
  return specs;
}

// values(i, j) = function j at row first + i of the pool.
void evaluate_rows(const KernelBlock& block, const Matrix<double>& coefficients, const Pool& pool, std::size_t first,
                   MatrixView<double> values) {
  Matrix<double> rows(values.rows(), pool.dim());
  copy_rows(pool, first, rows);
  Matrix<double> kernel_values(values.rows(), block.num_points());
  block.evaluate(rows, kernel_values);
  simd::multiply(kernel_values, simd::Op::none, coefficients, simd::Op::none, values);
}

// The labels and weights of the rows to which a witness is fitted.
struct Groups {
  std::vector<double> of_x;  // weights, 0 for rows of Y
  std::vector<double> of_y;
  double total_x = 0.0;
  double total_y = 0.0;
};

Groups make_groups(const WitnessRequest& request, std::size_t count) {
  Groups groups{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0)};
  for (std::size_t i = 0; i < count; ++i) {
    const double w = request.weights.empty() ? 1.0 : request.weights[i];
    (request.labels.is_x(i, 0) ? groups.of_x : groups.of_y)[i] = w;
  }
  groups.total_x = sum(groups.of_x);
  groups.total_y = sum(groups.of_y);
  return groups;
}

std::vector<double> mean_of(const Matrix<double>& features, std::span<const double> weights, double total) {
  std::vector<double> mean(features.cols());
  simd::multiply(features, simd::Op::transpose, weights, mean);
  for (double& value : mean) value /= total;
  return mean;
}

// The correlation of scores with the labels; rows are weighted, and both samples have the same total weight.
double label_correlation(std::span<const double> scores, const Groups& groups) {
  const auto moments = [&](const std::vector<double>& weights, double total) {
    CompensatedSum first;
    CompensatedSum second;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      first.add(weights[i] / total * scores[i]);
      second.add(weights[i] / total * scores[i] * scores[i]);
    }
    return std::pair{first.value(), second.value()};
  };
  const auto [mean_x, square_x] = moments(groups.of_x, groups.total_x);
  const auto [mean_y, square_y] = moments(groups.of_y, groups.total_y);
  const double mean = 0.5 * (mean_x + mean_y);
  const double variance = 0.5 * (square_x + square_y) - mean * mean;
  return variance > 0.0 ? 0.5 * (mean_y - mean_x) / std::sqrt(variance) : -1.0;
}

// Coefficients, one column per ridge, that give the products of a row with both means and with itself; each principal
// function is divided by its variance plus the ridge.
struct RidgeWeights {
  Matrix<double> towards_x;
  Matrix<double> towards_y;
  Matrix<double> inverse;
};

RidgeWeights ridge_weights(std::span<const double> variances, std::span<const double> mean_x,
                           std::span<const double> mean_y) {
  const std::size_t r = variances.size();
  RidgeWeights weights{{r, kRidges.size()}, {r, kRidges.size()}, {r, kRidges.size()}};
  for (std::size_t j = 0; j < r; ++j) {
    for (std::size_t k = 0; k < kRidges.size(); ++k) {
      const double inverse = 1.0 / (variances[j] + kRidges[k] * variances.front());
      weights.inverse(j, k) = inverse;
      weights.towards_x(j, k) = inverse * mean_x[j];
      weights.towards_y(j, k) = inverse * mean_y[j];
    }
  }
  return weights;
}

// Values of the witness at row i for ridge k, with the row in its mean and with the row left out.
struct Scores {
  Matrix<double> all;
  Matrix<double> left_out;
};

Scores scores_of(const Matrix<double>& features, const RidgeWeights& weights, const Groups& groups,
                 ThreadCount threads) {
  Scores scores{{kRidges.size(), features.rows()}, {kRidges.size(), features.rows()}};
  parallel_for_blocks(features.rows(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    const auto rows = features.view().row_range(begin, end - begin);
    Matrix<double> squares(rows.rows(), rows.cols());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      std::ranges::transform(rows.row(i), squares.row(i).begin(), [](double v) { return v * v; });
    }
    Matrix<double> towards_x(rows.rows(), kRidges.size());
    Matrix<double> towards_y(rows.rows(), kRidges.size());
    Matrix<double> towards_itself(rows.rows(), kRidges.size());
    simd::multiply(rows, simd::Op::none, weights.towards_x, simd::Op::none, towards_x);
    simd::multiply(rows, simd::Op::none, weights.towards_y, simd::Op::none, towards_y);
    simd::multiply(squares, simd::Op::none, weights.inverse, simd::Op::none, towards_itself);
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const bool in_x = groups.of_x[begin + i] > 0.0;
      const double w = in_x ? groups.of_x[begin + i] : groups.of_y[begin + i];
      const double others = (in_x ? groups.total_x : groups.total_y) - w;
      for (std::size_t k = 0; k < kRidges.size(); ++k) {
        scores.all(k, begin + i) = towards_y(i, k) - towards_x(i, k);
        double& own = in_x ? towards_x(i, k) : towards_y(i, k);
        if (others > 0.0) own += (own - towards_itself(i, k)) * w / others;
        scores.left_out(k, begin + i) = towards_y(i, k) - towards_x(i, k);
      }
    }
  });
  return scores;
}

double deviation(std::span<const double> values) {
  const double mean = sum(values) / static_cast<double>(values.size());
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return std::sqrt(squares.value() / static_cast<double>(values.size()));
}

// The best witness of one kernel.
struct Fit {
  Kernel kernel;
  PrincipalBasis basis;
  std::vector<double> loadings;  // of the principal functions
  std::vector<double> means;     // pooled, of the same
  std::vector<double> scores;
  double unit = 0.0;  // standard deviation of the left-out scores
  double correlation = -2.0;
};

// An isolated row is scored as if it had been left out: its own label must not make it extreme. Among many similar
// rows, however, leaving one out moves rows of X slightly towards Y and rows of Y towards X, and these small moves
// would decide which rows are the most extreme. So nothing is subtracted where a row contributes little to its own
// score.
std::vector<double> row_scores(std::span<const double> all, std::span<const double> left_out) {
  constexpr double kLittle = 1.5;
  std::vector<double> scores(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double own = all[i] - left_out[i];
    const double part = kLittle * std::abs(own);
    scores[i] = part >= std::abs(all[i]) ? left_out[i] : all[i] - own * (part / std::abs(all[i]));
  }
  return scores;
}

// At most `count` rows of the pool, the first ones, with their labels.
struct FittedRows {
  std::vector<std::size_t> order;
  Pool pool;
  Groups groups;

  FittedRows(const WitnessRequest& request, std::size_t count)
      : order(std::min(request.pool.size(), count)), pool{request.pool.x, request.pool.y, order} {
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = request.pool.order[i];
    groups = make_groups(request, order.size());
  }
  FittedRows(const FittedRows&) = delete;  // the pool points into the order
  FittedRows& operator=(const FittedRows&) = delete;

  [[nodiscard]] bool has_both() const { return groups.total_x > 0.0 && groups.total_y > 0.0; }
};

// The best ridge for one kernel; none if the kernel does not distinguish any rows.
std::optional<Fit> fit(const KernelSpec& spec, std::size_t max_landmarks, const FittedRows& rows,
                       const WitnessRequest& request) {
  const auto& [order, pool, groups] = rows;
  const Kernel kernel(spec);
  const std::size_t landmarks = std::clamp<std::size_t>(pool.size() / 2, 2, max_landmarks);
  PrincipalBasis basis =
      principal_basis(kernel, pool, {.num_landmarks = landmarks, .max_rank = landmarks}, request.seed, request.threads);
  if (basis.variances.empty()) return std::nullopt;
  Fit best{kernel, std::move(basis), {}, {}, {}};
  Matrix<double> features = evaluate_functions(
      {kernel, Matrix<double>(best.basis.landmarks.view()), Matrix<double>(best.basis.coefficients.view())}, pool,
      request.threads);
  const std::vector<double> ones(features.rows(), 1.0);
  best.means = mean_of(features, ones, static_cast<double>(features.rows()));
  for (std::size_t i = 0; i < features.rows(); ++i) {
    for (std::size_t j = 0; j < features.cols(); ++j) features(i, j) -= best.means[j];
  }
  const std::vector<double> mean_x = mean_of(features, groups.of_x, groups.total_x);
  const std::vector<double> mean_y = mean_of(features, groups.of_y, groups.total_y);
  const RidgeWeights weights = ridge_weights(best.basis.variances, mean_x, mean_y);
  const Scores scores = scores_of(features, weights, groups, request.threads);
  for (std::size_t k = 0; k < kRidges.size(); ++k) {
    const double correlation = label_correlation(scores.left_out.row(k), groups);
    if (!(correlation > best.correlation)) continue;
    best.correlation = correlation;
    best.unit = deviation(scores.left_out.row(k));
    best.scores = row_scores(scores.all.row(k), scores.left_out.row(k));
    best.loadings.resize(mean_x.size());
    for (std::size_t j = 0; j < mean_x.size(); ++j) {
      best.loadings[j] = weights.towards_y(j, k) - weights.towards_x(j, k);
    }
  }
  return best;
}

// The fit of the kernel whose leave-one-out scores correlate best with the labels.
std::optional<Fit> best_fit(const FittedRows& rows, std::size_t max_landmarks, const WitnessRequest& request) {
  std::optional<Fit> best;
  for (const KernelSpec& spec : candidates(request.kernel)) {
    std::optional<Fit> next = fit(spec, max_landmarks, rows, request);
    if (next && (!best || next->correlation > best->correlation)) best = std::move(next);
  }
  return best;
}

}  // namespace

Matrix<double> evaluate_functions(const FunctionsOfKernel& functions, const Pool& pool, ThreadCount threads) {
  const KernelBlock block(functions.kernel, functions.points);
  Matrix<double> values(pool.size(), functions.coefficients.cols());
  parallel_for_blocks(pool.size(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    evaluate_rows(block, functions.coefficients, pool, begin, values.view().row_range(begin, end - begin));
  });
  return values;
}

Witness fit_witness(const WitnessRequest& request) {
  Witness witness{{Kernel(request.kernel), {}, {}}, std::vector<double>(request.pool.size(), 0.0)};
  const FittedRows few(request, kMaxTuningRows);
  const FittedRows rows(request, kMaxFitRows);
  if (!rows.has_both()) return witness;
  std::optional<Fit> best;
  if (few.order.size() < rows.order.size() && few.has_both()) {
    best = best_fit(few, kTuningLandmarks, request);
    if (best) best = fit(best->kernel.spec(), kMaxLandmarks, rows, request);
  } else {
    best = best_fit(rows, kMaxLandmarks, request);
  }
  if (!best) return witness;

  witness.num_rows = rows.order.size();
  const double scale = best->unit > 0.0 ? 1.0 / best->unit : 1.0;
  Matrix<double> coefficients(best->basis.landmarks.rows(), 1);
  for (double& loading : best->loadings) loading *= scale;
  simd::multiply(best->basis.coefficients, simd::Op::none, best->loadings, coefficients.values());
  witness.function = {best->kernel, std::move(best->basis.landmarks), std::move(coefficients)};
  witness.share = std::max(0.0, best->correlation) * std::max(0.0, best->correlation);
  double at_mean = 0.0;
  for (std::size_t j = 0; j < best->loadings.size(); ++j) at_mean += best->loadings[j] * best->means[j];
  if (rows.order.size() < request.pool.size()) {
    const Matrix<double> values = evaluate_functions(witness.function, request.pool, request.threads);
    for (std::size_t i = 0; i < values.rows(); ++i) witness.scores[i] = values(i, 0) - at_mean;
  }
  for (std::size_t i = 0; i < rows.order.size(); ++i) witness.scores[i] = best->scores[i] * scale;
  return witness;
}

AveragedGradients averaged_gradients(const FunctionsOfKernel& functions, const Pool& pool,
                                     std::span<const double> scales, ThreadCount threads) {
  constexpr std::size_t kMostRows = 1000;
  constexpr double kBudget = 4e8;  // products of coordinates
  const std::size_t d = pool.dim();
  const std::size_t m = functions.points.rows();
  const std::size_t count = functions.coefficients.cols();
  const auto feasible = static_cast<std::size_t>(kBudget / static_cast<double>((m + 1) * d));
  const std::size_t num_rows = std::min({pool.size(), kMostRows, std::max<std::size_t>(32, feasible)});
  Matrix<double> gradients(num_rows * count, d);
  parallel_for_blocks(num_rows, 1, threads, [&](std::size_t i, std::size_t) {
    Matrix<double> of_points(m, d);
    kernel_gradient(functions.kernel, pool.row(i), functions.points, of_points);
    simd::multiply(functions.coefficients, simd::Op::transpose, of_points, simd::Op::none,
                   gradients.view().row_range(i * count, count));
  });
  AveragedGradients averages{Matrix<double>(count, d, 0.0), Matrix<double>(count, d, 0.0)};
  for (std::size_t i = 0; i < num_rows; ++i) {
    for (std::size_t f = 0; f < count; ++f) {
      for (std::size_t c = 0; c < d; ++c) {
        const double slope = gradients(i * count + f, c) * scales[c];
        averages.mean(f, c) += slope / static_cast<double>(num_rows);
        averages.magnitude(f, c) += slope * slope / static_cast<double>(num_rows);
      }
    }
  }
  for (double& v : averages.magnitude.values()) v = std::sqrt(v);
  return averages;
}

}  // namespace kqd
