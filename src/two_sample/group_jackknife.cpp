#include "two_sample/group_jackknife.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "core/fail.hpp"

namespace kqd {

Interval group_jackknife(const GroupedKqdPlan& plan, const LabelBatch& observed, const EffectEstimate& estimate,
                         double statistic, double confidence, ThreadCount threads) {
  const std::vector<GroupedKqdPlan::WithoutUnit> without = plan.without_units(observed, threads);
  const auto effect = [&](double value, double scale) {
    const double m = estimate.permutation_mean;
    return scale > 0.0 ? std::sqrt(std::max(0.0, value * value - m * m)) / scale : 0.0;
  };
  double variance = 0.0;
  std::size_t fewest = without.size();
  for (const bool of_x : {true, false}) {
    std::vector<double> effects;
    for (std::size_t u = 0; u < without.size(); ++u) {
      if (observed.is_x(u, 0) == of_x) effects.push_back(effect(without[u].value, without[u].pooled_scale));
    }
    fewest = std::min(fewest, effects.size());
    const auto count = static_cast<double>(effects.size());
    double mean = 0.0;
    for (const double e : effects) mean += e / count;
    for (const double e : effects) variance += (count - 1.0) / count * (e - mean) * (e - mean);
  }
  if (fewest < 2) {
    fail(ErrorCode::empty_sample, "an interval for the effect size needs at least 2 groups per sample, got {}", fewest);
  }
  const boost::math::students_t distribution(static_cast<double>(fewest - 1));
  const double reach = boost::math::quantile(distribution, 0.5 * (1.0 + confidence)) * std::sqrt(variance);
  const double centre = effect(statistic, estimate.pooled_scale);
  return {.lower = std::min(estimate.effect_size, std::max(0.0, centre - reach)),
          .upper = std::max(estimate.effect_size, centre + reach)};
}

}  // namespace kqd
