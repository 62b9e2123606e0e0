#include "explain/witness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/blas.hpp"
#include "core/executor.hpp"
#include "core/summation.hpp"
#include "directions/principal.hpp"
#include "kernel/kernel_block.hpp"
#include "kernel/kernel_gradient.hpp"

namespace kqd {
namespace {

constexpr std::size_t kMaxFitRows = 20'000;
constexpr std::size_t kMaxLandmarks = 256;
constexpr std::size_t kRowsPerBlock = 256;
constexpr std::array<double, 7> kRidges = {1.0, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4};  // of the largest variance
constexpr std::array<double, 3> kBandwidthFactors = {1.0, 0.5, 2.0};

// Bandwidths to try; a kernel of several parts, or without one, is taken as it is.
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
  gemm(1.0, kernel_values, Op::none, coefficients, Op::none, 0.0, values);
}

// The labels and weights of the rows a witness is fitted to.
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
  gemv(1.0 / total, features, Op::transpose, weights, 0.0, mean);
  return mean;
}

// The correlation of scores with the labels, every row by its weight and both samples by the same total.
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

// The scores of all rows for one ridge, each with the row itself left out of its mean.
std::vector<double> left_out_scores(const Matrix<double>& features, std::span<const double> mean_x,
                                    std::span<const double> mean_y, std::span<const double> inverse,
                                    const Groups& groups, ThreadCount threads) {
  std::vector<double> scores(features.rows());
  parallel_for_blocks(features.rows(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double towards_x = 0.0;
      double towards_y = 0.0;
      double towards_itself = 0.0;
      const auto row = features.row(i);
      for (std::size_t j = 0; j < row.size(); ++j) {
        const double scaled = row[j] * inverse[j];
        towards_x += scaled * mean_x[j];
        towards_y += scaled * mean_y[j];
        towards_itself += scaled * row[j];
      }
      const bool in_x = groups.of_x[i] > 0.0;
      const double w = in_x ? groups.of_x[i] : groups.of_y[i];
      const double others = (in_x ? groups.total_x : groups.total_y) - w;
      double& own = in_x ? towards_x : towards_y;
      if (others > 0.0) own += (own - towards_itself) * w / others;
      scores[i] = towards_y - towards_x;
    }
  });
  return scores;
}

// A witness in the making: the best of its kernel.
struct Fit {
  Kernel kernel;
  PrincipalBasis basis;
  std::vector<double> loadings;  // of the principal functions
  std::vector<double> means;     // pooled, of the same
  std::vector<double> scores;
  double correlation = -2.0;
};

std::optional<Fit> fit(const KernelSpec& spec, const Pool& pool, const Groups& groups, const WitnessRequest& request) {
  const Kernel kernel(spec);
  const std::size_t landmarks = std::clamp<std::size_t>(pool.size() / 2, 2, kMaxLandmarks);
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
  const std::vector<double>& variances = best.basis.variances;
  for (const double ridge : kRidges) {
    std::vector<double> inverse(variances.size());
    for (std::size_t j = 0; j < inverse.size(); ++j) inverse[j] = 1.0 / (variances[j] + ridge * variances.front());
    std::vector<double> scores = left_out_scores(features, mean_x, mean_y, inverse, groups, request.threads);
    const double correlation = label_correlation(scores, groups);
    if (!(correlation > best.correlation)) continue;
    best.correlation = correlation;
    best.scores = std::move(scores);
    best.loadings.assign(inverse.size(), 0.0);
    for (std::size_t j = 0; j < inverse.size(); ++j) best.loadings[j] = inverse[j] * (mean_y[j] - mean_x[j]);
  }
  return best;
}

double deviation(std::span<const double> values) {
  const double mean = sum(values) / static_cast<double>(values.size());
  CompensatedSum squares;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return std::sqrt(squares.value() / static_cast<double>(values.size()));
}

}  // namespace

Matrix<double> evaluate_functions(const KernelFunctions& functions, const Pool& pool, ThreadCount threads) {
  const KernelBlock block(functions.kernel, functions.points);
  Matrix<double> values(pool.size(), functions.coefficients.cols());
  parallel_for_blocks(pool.size(), kRowsPerBlock, threads, [&](std::size_t begin, std::size_t end) {
    evaluate_rows(block, functions.coefficients, pool, begin, values.view().row_range(begin, end - begin));
  });
  return values;
}

Witness fit_witness(const WitnessRequest& request) {
  const std::size_t num_fitted = std::min(request.pool.size(), kMaxFitRows);
  std::vector<std::size_t> rows(num_fitted);
  for (std::size_t i = 0; i < num_fitted; ++i) rows[i] = request.pool.order[i];
  const Pool fitted{request.pool.x, request.pool.y, rows};
  const Groups groups = make_groups(request, num_fitted);
  Witness witness{{Kernel(request.kernel), {}, {}}, std::vector<double>(request.pool.size(), 0.0)};
  if (!(groups.total_x > 0.0) || !(groups.total_y > 0.0)) return witness;
  std::optional<Fit> best;
  for (const KernelSpec& spec : candidates(request.kernel)) {
    std::optional<Fit> next = fit(spec, fitted, groups, request);
    if (next && (!best || next->correlation > best->correlation)) best = std::move(next);
  }
  if (!best) return witness;

  const double unit = deviation(best->scores);
  const double scale = unit > 0.0 ? 1.0 / unit : 1.0;
  Matrix<double> coefficients(best->basis.landmarks.rows(), 1);
  for (double& loading : best->loadings) loading *= scale;
  gemv(1.0, best->basis.coefficients, Op::none, best->loadings, 0.0, coefficients.values());
  witness.function = {best->kernel, std::move(best->basis.landmarks), std::move(coefficients)};
  witness.share = std::max(0.0, best->correlation) * std::max(0.0, best->correlation);
  double at_mean = 0.0;
  for (std::size_t j = 0; j < best->loadings.size(); ++j) at_mean += best->loadings[j] * best->means[j];
  if (num_fitted < request.pool.size()) {
    const Matrix<double> values = evaluate_functions(witness.function, request.pool, request.threads);
    for (std::size_t i = 0; i < values.rows(); ++i) witness.scores[i] = values(i, 0) - at_mean;
  }
  for (std::size_t i = 0; i < num_fitted; ++i) witness.scores[i] = best->scores[i] * scale;
  return witness;
}

AveragedGradients averaged_gradients(const KernelFunctions& functions, const Pool& pool, std::span<const double> scales,
                                     ThreadCount threads) {
  constexpr std::size_t kMostRows = 1000;
  constexpr double kBudget = 4e8;  // products of coordinates
  const std::size_t d = pool.dim();
  const std::size_t m = functions.points.rows();
  const std::size_t count = functions.coefficients.cols();
  const auto affordable = static_cast<std::size_t>(kBudget / static_cast<double>((m + 1) * d));
  const std::size_t num_rows = std::min({pool.size(), kMostRows, std::max<std::size_t>(32, affordable)});
  Matrix<double> gradients(num_rows * count, d);
  parallel_for_blocks(num_rows, 1, threads, [&](std::size_t i, std::size_t) {
    Matrix<double> of_points(m, d);
    kernel_gradient(functions.kernel, pool.row(i), functions.points, of_points);
    gemm(1.0, functions.coefficients, Op::transpose, of_points, Op::none, 0.0,
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
