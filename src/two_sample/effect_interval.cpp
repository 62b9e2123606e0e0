#include "two_sample/effect_interval.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/executor.hpp"
#include "core/fail.hpp"
#include "core/random.hpp"

namespace kqd {
namespace {

constexpr std::size_t kNumHalves = 199;

Sample random_half(const SampleView& sample, RandomStream& stream) {
  const std::size_t count = sample.size() / 2;
  const auto rows = sample_without_replacement(sample.size(), count, stream);
  Sample half{Matrix<double>(count, sample.dim()), std::vector<double>(sample.weighted() ? count : 0), {}};
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::copy(sample.points.row(rows[i]), half.points.row(i).begin());
    if (sample.weighted()) half.weights[i] = sample.weights[rows[i]];
  }
  return half;
}

// The statistic of half the rows minus its mean under the null hypothesis, in units of the pooled scale.
double effect_of_half(double statistic, const EffectEstimate& estimate) {
  const double chance = estimate.permutation_mean;
  const double beyond = estimate.squares ? statistic - 2.0 * chance
                                         : std::sqrt(std::max(0.0, statistic * statistic - 2.0 * chance * chance));
  return beyond / estimate.pooled_scale;
}

// The value that a new one is below with this probability, by linear interpolation.
double sorted_quantile(const std::vector<double>& sorted, double probability) {
  const double place = std::clamp(probability * static_cast<double>(sorted.size() + 1) - 1.0, 0.0,
                                  static_cast<double>(sorted.size() - 1));
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Interval effect_interval(const Method& method, const MethodOptions& frozen, const SampleView& x, const SampleView& y,
                         const EffectEstimate& estimate, double confidence) {
  if (x.size() < 4 || y.size() < 4) {
    fail(ErrorCode::empty_sample, "an interval for the effect size needs at least 4 rows per sample, got {} and {}",
         x.size(), y.size());
  }
  std::vector<double> effects(kNumHalves);
  MethodOptions options = frozen;
  options.threads = ThreadCount{1};
  parallel_for_blocks(kNumHalves, 1, frozen.threads, [&](std::size_t k, std::size_t) {
    RandomStream stream(frozen.seed, Purpose::effect_interval, k);
    const Sample half_x = random_half(x, stream);
    const Sample half_y = random_half(y, stream);
    effects[k] = effect_of_half(method.distance(half_x, half_y, options).statistic, estimate);
  });
  std::ranges::sort(effects);
  const double tail = 0.5 * (1.0 - confidence);
  return {.lower = std::min(estimate.effect_size, sorted_quantile(effects, tail)),
          .upper = std::max(estimate.effect_size, sorted_quantile(effects, 1.0 - tail))};
}

}  // namespace kqd
