#include "kqd/metrics/embedding.hpp"

#include <cmath>
#include <utility>

#include "core/fail.hpp"
#include "metrics/mean/mean_embedding.hpp"
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
  const auto mean_along = [](const KernelQuantileEmbedding& sample, const Directions& u, std::size_t i) {
    Matrix<double> values(1, sample.sample().size());
    u.evaluate(sample.sample().points, i, values, ThreadCount{1});
    const std::vector<double> weights = normalised_weights(sample.sample());
    double total = 0.0;
    for (std::size_t j = 0; j < weights.size(); ++j) total += weights[j] * values(0, j);
    return total;
  };
  const double uv = p.directions()->inner_product(at_p.direction, *q.directions(), at_q.direction);
  const double mu_pq = mean_inner_product(p.directions()->kernel(), p.sample().points, normalised_weights(p.sample()),
                                          q.sample().points, normalised_weights(q.sample()), ThreadCount{1});
  return a * b * uv + a * mean_along(q, *p.directions(), at_p.direction) +
         b * mean_along(p, *q.directions(), at_q.direction) + mu_pq;
}

double norm_centered(const KernelQuantileEmbedding& p, QuantileIndex at) {
  return std::sqrt(std::max(0.0, inner_product_centered(p, at, p, at)));
}

}  // namespace kqd
