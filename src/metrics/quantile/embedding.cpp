#include "kqd/metrics/embedding.hpp"

#include <cmath>
#include <utility>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "metrics/mean/mean_embedding.hpp"
#include "metrics/quantile/kqd.hpp"
#include "quantiles/sorted_projections.hpp"

namespace kqd {
namespace {

double value_of_direction(const Directions& directions, std::size_t i, std::span<const double> x) {
  double value = 0.0;
  directions.evaluate({x.data(), 1, x.size()}, i, {&value, 1, 1}, ThreadCount{1});
  return value;
}

void require_direction(const KernelQuantileEmbedding& embedding, std::size_t direction) {
  if (direction >= embedding.directions()->count()) {
    fail(ErrorCode::invalid_option, "direction = {}, needs < {}", direction, embedding.directions()->count());
  }
}

// A copy of the sample without its rows of weight zero: they have no part in any quantile, the minimum included.
Sample owned(const SampleView& sample, ThreadCount threads) {
  validate(sample, "sample", threads);
  Sample storage;
  const SampleView kept = without_zero_weights(sample, storage);
  return {Matrix<double>(kept.points), {kept.weights.begin(), kept.weights.end()}, {}};
}

double deviation(const KernelQuantileEmbedding& p, QuantileIndex at) {
  return p.quantile(at) - p.mean(at.direction);
}

// q - <u, mu>, a row per direction and a column per level.
Matrix<double> deviations(const KernelQuantileEmbedding& p, std::span<const double> levels) {
  Matrix<double> values = p.quantiles(levels);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const double mean = p.mean(i);
    for (double& value : values.row(i)) value -= mean;
  }
  return values;
}

// factors(i, a) u_i(x_j) in row (i, a) and column j.
Matrix<double> scaled_directions(const Directions& directions, const Matrix<double>& factors,
                                 MatrixView<const double> points, ThreadCount threads) {
  Matrix<double> values(directions.count(), points.rows());
  directions.evaluate(points, 0, values, threads);
  Matrix<double> result(factors.rows() * factors.cols(), points.rows());
  for (std::size_t i = 0; i < factors.rows(); ++i) {
    for (std::size_t a = 0; a < factors.cols(); ++a) {
      const auto row = result.row(i * factors.cols() + a);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = factors(i, a) * values(i, j);
    }
  }
  return result;
}

// factors_p(i, a) factors_q(j, b) <u_i, v_j> in row (i, a) and column (j, b).
Matrix<double> scaled_products(const Matrix<double>& factors_p, const Matrix<double>& products,
                               const Matrix<double>& factors_q) {
  Matrix<double> result(factors_p.rows() * factors_p.cols(), factors_q.rows() * factors_q.cols());
  for (std::size_t row = 0; row < result.rows(); ++row) {
    for (std::size_t column = 0; column < result.cols(); ++column) {
      result(row, column) = factors_p.values()[row] * factors_q.values()[column] *
                            products(row / factors_p.cols(), column / factors_q.cols());
    }
  }
  return result;
}

// <u_i, mu_P> for directions that need not be those of p.
std::vector<double> means_along(const KernelQuantileEmbedding& p, const Directions& directions, DirectionRange range,
                                ThreadCount threads) {
  std::vector<double> means(range.count);
  if (&directions == p.directions().get()) {
    for (std::size_t i = 0; i < means.size(); ++i) means[i] = p.mean(range.first + i);
    return means;
  }
  Matrix<double> values(range.count, p.sample().size());
  directions.evaluate(p.sample().points, range.first, values, threads);
  const std::vector<double> weights = normalised_weights(p.sample());
  for (std::size_t i = 0; i < means.size(); ++i) {
    for (std::size_t j = 0; j < weights.size(); ++j) means[i] += weights[j] * values(i, j);
  }
  return means;
}

double mean_product(const KernelQuantileEmbedding& p, const KernelQuantileEmbedding& q, ThreadCount threads) {
  return mean_inner_product(p.directions()->kernel(), p.sample().points, normalised_weights(p.sample()),
                            q.sample().points, normalised_weights(q.sample()), threads);
}

}  // namespace

KernelQuantileEmbedding::KernelQuantileEmbedding(const SampleView& sample, std::shared_ptr<const Directions> directions,
                                                 ThreadCount threads)
    : sample_(owned(sample, threads)), directions_(std::move(directions)) {
  Matrix<double> projections(directions_->count(), sample_.points.rows());
  directions_->evaluate(sample_.points, 0, projections, threads);
  projections_ = std::make_unique<SortedProjections>(std::move(projections), sample_.weights, threads);
}

KernelQuantileEmbedding::~KernelQuantileEmbedding() = default;
KernelQuantileEmbedding::KernelQuantileEmbedding(KernelQuantileEmbedding&&) noexcept = default;
KernelQuantileEmbedding& KernelQuantileEmbedding::operator=(KernelQuantileEmbedding&&) noexcept = default;

double KernelQuantileEmbedding::quantile(QuantileIndex at) const {
  if (!(at.level >= 0.0 && at.level <= 1.0)) {
    fail(ErrorCode::invalid_option, "level = {}, needs a number in [0, 1]", at.level);
  }
  require_direction(*this, at.direction);
  return projections_->quantiles(at.direction).at(at.level);
}

double KernelQuantileEmbedding::mean(std::size_t direction) const {
  require_direction(*this, direction);
  return projections_->mean(direction);
}

double KernelQuantileEmbedding::mean_embedding(std::span<const double> x) const {
  if (x.size() != directions_->dim()) {
    fail(ErrorCode::shape_mismatch, "points have {} column{} and the directions {}, expected the same number", x.size(),
         x.size() == 1 ? "" : "s", directions_->dim());
  }
  const double one = 1.0;
  const std::vector<double> weights = normalised_weights(sample_);
  return mean_inner_product(directions_->kernel(), sample_.points, weights, {x.data(), 1, x.size()}, {&one, 1},
                            ThreadCount{1});
}

std::vector<double> KernelQuantileEmbedding::mean_embeddings(MatrixView<const double> points,
                                                             ThreadCount threads) const {
  std::vector<double> values(points.rows());
  parallel_for_blocks(points.rows(), 1, threads,
                      [&](std::size_t i, std::size_t) { values[i] = mean_embedding(points.row(i)); });
  return values;
}

Matrix<double> KernelQuantileEmbedding::quantiles(std::span<const double> levels) const {
  Matrix<double> values(directions_->count(), levels.size());
  for (std::size_t i = 0; i < values.rows(); ++i) {
    for (std::size_t a = 0; a < levels.size(); ++a) values(i, a) = quantile({levels[a], i});
  }
  return values;
}

Matrix<double> KernelQuantileEmbedding::evaluate(std::span<const double> levels, MatrixView<const double> points,
                                                 ThreadCount threads) const {
  return scaled_directions(*directions_, quantiles(levels), points, threads);
}

Matrix<double> KernelQuantileEmbedding::evaluate_centered(std::span<const double> levels,
                                                          MatrixView<const double> points, ThreadCount threads) const {
  Matrix<double> values = scaled_directions(*directions_, deviations(*this, levels), points, threads);
  const std::vector<double> means = mean_embeddings(points, threads);
  for (std::size_t row = 0; row < values.rows(); ++row) {
    for (std::size_t j = 0; j < means.size(); ++j) values(row, j) += means[j];
  }
  return values;
}

double KernelQuantileEmbedding::evaluate(QuantileIndex at, std::span<const double> x) const {
  return quantile(at) * value_of_direction(*directions_, at.direction, x);
}

double KernelQuantileEmbedding::evaluate_centered(QuantileIndex at, std::span<const double> x) const {
  return deviation(*this, at) * value_of_direction(*directions_, at.direction, x) + mean_embedding(x);
}

double inner_product(const KernelQuantileEmbedding& p, QuantileIndex at_p, const KernelQuantileEmbedding& q,
                     QuantileIndex at_q) {
  return p.quantile(at_p) * q.quantile(at_q) *
         p.directions()->inner_product(at_p.direction, *q.directions(), at_q.direction);
}

double norm(const KernelQuantileEmbedding& p, QuantileIndex at) {
  return std::abs(p.quantile(at));
}

double inner_product_centered(const KernelQuantileEmbedding& p, QuantileIndex at_p, const KernelQuantileEmbedding& q,
                              QuantileIndex at_q) {
  // With A = q_P - <u, mu_P> and B = q_Q - <v, mu_Q>: A B <u,v> + A <u, mu_Q> + B <v, mu_P> + <mu_P, mu_Q>.
  const double a = deviation(p, at_p);
  const double b = deviation(q, at_q);
  const double uv = p.directions()->inner_product(at_p.direction, *q.directions(), at_q.direction);
  const double u_mu_q = means_along(q, *p.directions(), {at_p.direction, 1}, ThreadCount{1}).front();
  const double v_mu_p = means_along(p, *q.directions(), {at_q.direction, 1}, ThreadCount{1}).front();
  return a * b * uv + a * u_mu_q + b * v_mu_p + mean_product(p, q, ThreadCount{1});
}

Matrix<double> inner_products(const KernelQuantileEmbedding& p, std::span<const double> levels_p,
                              const KernelQuantileEmbedding& q, std::span<const double> levels_q) {
  return scaled_products(p.quantiles(levels_p), p.directions()->inner_products(*q.directions()), q.quantiles(levels_q));
}

Matrix<double> inner_products_centered(const KernelQuantileEmbedding& p, std::span<const double> levels_p,
                                       const KernelQuantileEmbedding& q, std::span<const double> levels_q,
                                       ThreadCount threads) {
  const Matrix<double> a = deviations(p, levels_p);
  const Matrix<double> b = deviations(q, levels_q);
  Matrix<double> result = scaled_products(a, p.directions()->inner_products(*q.directions()), b);
  const std::vector<double> q_means = means_along(q, *p.directions(), {0, a.rows()}, threads);
  const std::vector<double> p_means = means_along(p, *q.directions(), {0, b.rows()}, threads);
  const double means = mean_product(p, q, threads);
  for (std::size_t row = 0; row < result.rows(); ++row) {
    for (std::size_t column = 0; column < result.cols(); ++column) {
      result(row, column) +=
          a.values()[row] * q_means[row / a.cols()] + b.values()[column] * p_means[column / b.cols()] + means;
    }
  }
  return result;
}

Matrix<double> norms(const KernelQuantileEmbedding& p, std::span<const double> levels) {
  Matrix<double> values = p.quantiles(levels);
  for (double& value : values.values()) value = std::abs(value);
  return values;
}

Matrix<double> norms_centered(const KernelQuantileEmbedding& p, std::span<const double> levels, ThreadCount threads) {
  Matrix<double> values = deviations(p, levels);
  const double means = mean_product(p, p, threads);
  for (std::size_t i = 0; i < values.rows(); ++i) {
    const double squared = p.directions()->inner_product(i, *p.directions(), i);
    for (double& value : values.row(i)) {
      value = std::sqrt(std::max(0.0, value * value * squared + 2.0 * value * p.mean(i) + means));
    }
  }
  return values;
}

double norm_centered(const KernelQuantileEmbedding& p, QuantileIndex at) {
  return std::sqrt(std::max(0.0, inner_product_centered(p, at, p, at)));
}

}  // namespace kqd
