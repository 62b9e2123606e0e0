#include "two_sample/profile_aggregate.hpp"

#include <numeric>
#include <utility>

#include "metrics/adaptive/directional_bundle.hpp"
#include "metrics/adaptive/mean_bundle.hpp"

namespace kqd {

AggregatedPlan aggregate_of(const ProfileSpec& spec, const ProfileUnits& units, std::size_t permutation_count) {
  AggregatedPlan plan;
  std::vector<MeanFeatures> features;
  std::vector<std::size_t> unit_means;
  std::vector<double> sizes;
  std::vector<double> weights_of_means;
  for (const ProfiledStatistics& statistics : spec.statistics) {
    if (statistics.of_means) {
      MeanFeatures own{.name = statistics.name,
                       .count = statistics.variances.size(),
                       .functions = {},
                       .statistics = {},
                       .variances = statistics.variances,
                       .group_size = statistics.group_size,
                       .groups = statistics.groups};
      for (const WeightedForm& form : statistics.forms) {
        own.statistics.push_back(static_cast<MeanSummary>(form.form));
        weights_of_means.push_back(form.weight);
      }
      features.push_back(std::move(own));
      unit_means.push_back(statistics.functions);
      sizes.insert(sizes.end(), statistics.mean_squared_sizes.begin(), statistics.mean_squared_sizes.end());
      continue;
    }
    std::vector<GapSummary> summaries;
    for (const WeightedForm& form : statistics.forms) {
      summaries.push_back(static_cast<GapSummary>(form.form));
      plan.weights.push_back(form.weight);
    }
    const std::size_t count = spec.functions[statistics.functions].lines.size();
    plan.bundles.push_back(std::make_unique<DirectionalBundle>(BundleDirections{statistics.name, count, {}},
                                                               std::move(summaries), statistics.gap_weight, units.data,
                                                               units.first_lines[statistics.functions]));
  }
  if (!features.empty()) {
    plan.bundles.push_back(std::make_unique<MeanBundle>(std::move(features), units.data, std::move(unit_means),
                                                        std::move(sizes), permutation_count));
    plan.weights.insert(plan.weights.end(), weights_of_means.begin(), weights_of_means.end());
  }
  const double total = std::accumulate(plan.weights.begin(), plan.weights.end(), 0.0);
  for (double& weight : plan.weights) weight /= total;
  return plan;
}

}  // namespace kqd
