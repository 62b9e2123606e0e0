#include <algorithm>
#include <cmath>
#include <limits>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "simd/matrix_product.hpp"
#include "two_sample/boundary.hpp"
#include "two_sample/size_parts.hpp"

namespace kqd {
namespace {

// Totals of the groups of one sample.
struct Side {
  double total = 0.0;
  double squares = 0.0;
  std::size_t count = 0;
};

Side side_of(const SizeUnits& units, bool x) {
  Side side;
  for (std::size_t u = 0; u < units.weights.size(); ++u) {
    if ((units.is_x[u] != 0) != x) continue;
    side.total += units.weights[u];
    side.squares += units.weights[u] * units.weights[u];
    ++side.count;
  }
  if (side.count < 2) {
    fail(ErrorCode::empty_sample, "the noise of an effect needs at least 2 groups per sample, got {}", side.count);
  }
  return side;
}

std::vector<double> mean_of(const SizeUnits& units, const Matrix<double>& sums, bool x, double total) {
  std::vector<double> mean(sums.cols(), 0.0);
  for (std::size_t u = 0; u < sums.rows(); ++u) {
    if ((units.is_x[u] != 0) != x) continue;
    for (std::size_t k = 0; k < sums.cols(); ++k) mean[k] += sums(u, k);
  }
  for (double& value : mean) value /= total;
  return mean;
}

// The trace of the square of a covariance, without the bias that the noise of the covariance adds [HY14]. `gram` has
// the inner products of centred groups, scaled so that the covariance is the sum of their outer products.
double trace_of_square(const Matrix<double>& gram, std::span<const std::size_t> units) {
  const auto count = static_cast<double>(units.size());
  double trace = 0.0;
  double of_square = 0.0;
  double fourth = 0.0;
  for (const std::size_t u : units) {
    trace += gram(u, u);
    fourth += gram(u, u) * gram(u, u);
    for (const std::size_t v : units) of_square += gram(u, v) * gram(u, v);
  }
  if (units.size() < 4) return trace * trace;  // an upper bound
  const double unbiased = (count - 1.0) / (count * (count - 2.0) * (count - 3.0)) *
                          ((count - 1.0) * (count - 2.0) * of_square + trace * trace - count * (count - 1.0) * fourth);
  return std::clamp(unbiased, 0.0, trace * trace);
}

}  // namespace

EffectMoments moments_of(const SizeUnits& units, const Matrix<double>& sums, ThreadCount threads) {
  const std::size_t num_units = sums.rows();
  const std::size_t count = sums.cols();
  const Side side_x = side_of(units, true);
  const Side side_y = side_of(units, false);
  const std::vector<double> mean_x = mean_of(units, sums, true, side_x.total);
  const std::vector<double> mean_y = mean_of(units, sums, false, side_y.total);
  std::vector<double> difference(count);
  for (std::size_t k = 0; k < count; ++k) difference[k] = mean_x[k] - mean_y[k];
  Matrix<double> centred(num_units, count);
  std::array<std::vector<std::size_t>, 2> members;
  for (std::size_t u = 0; u < num_units; ++u) {
    const bool x = units.is_x[u] != 0;
    const Side& side = x ? side_x : side_y;
    const std::vector<double>& mean = x ? mean_x : mean_y;
    const double scale = 1.0 / std::sqrt(side.total * side.total - side.squares);
    for (std::size_t k = 0; k < count; ++k) centred(u, k) = (sums(u, k) - units.weights[u] * mean[k]) * scale;
    members[x ? 0 : 1].push_back(u);
  }
  Matrix<double> gram(num_units, num_units);
  constexpr std::size_t kRowsAtATime = 32;
  const simd::PackedFactor<double> right(centred.view(), simd::Op::transpose);
  parallel_for_blocks(num_units, kRowsAtATime, threads, [&](std::size_t begin, std::size_t end) {
    simd::multiply(std::as_const(centred).view().row_range(begin, end - begin), simd::Op::none, right,
                   gram.view().row_range(begin, end - begin));
  });
  EffectMoments moments;
  moments.squared = simd::dot(difference, difference);
  moments.groups = static_cast<double>(std::min(side_x.count, side_y.count));
  for (std::size_t u = 0; u < num_units; ++u) {
    moments.noise += gram(u, u);
    const double along = simd::dot(std::as_const(centred).row(u), difference);
    moments.along += along * along;
  }
  moments.noise_square = trace_of_square(gram, members[0]) + trace_of_square(gram, members[1]);
  for (const std::size_t u : members[0]) {
    for (const std::size_t v : members[1]) moments.noise_square += 2.0 * gram(u, v) * gram(u, v);
  }
  // A covariance of this trace has at least an equal share in each of the functions.
  const double square = moments.noise * moments.noise;
  moments.noise_square =
      std::clamp(moments.noise_square, square / static_cast<double>(std::max<std::size_t>(1, count)), square);
  moments.along = moments.squared > 0.0 ? moments.along / moments.squared : 0.0;
  moments.along = std::min({moments.along, moments.noise, std::sqrt(moments.noise_square)});
  return moments;
}

double effect_of(const EffectMoments& moments) {
  const double squared = moments.squared - moments.noise;
  return std::copysign(std::sqrt(std::abs(squared)), squared);
}

void summarise_aspects(DifferenceSize& size) {
  const double tail = 0.5 * (1.0 - size.confidence);
  // The largest effect is below the largest lower limit with the probability that one of them is wrong; it is above the
  // largest upper limit only if that of its own aspect is wrong.
  const double lower_tail = tail / static_cast<double>(size.aspects.size());
  size.interval = {0.0, 0.0};
  const EffectAspect* chosen = nullptr;
  for (EffectAspect& aspect : size.aspects) {
    aspect.effect = effect_of(aspect.moments);
    aspect.interval = {lower_limit(aspect.moments, lower_tail), upper_limit(aspect.moments, tail)};
    if (chosen == nullptr || aspect.interval.lower > chosen->interval.lower) chosen = &aspect;
    size.interval.upper = std::max(size.interval.upper, aspect.interval.upper);
  }
  size.effect = chosen->effect;
  size.interval.lower = chosen->interval.lower;
}

}  // namespace kqd
