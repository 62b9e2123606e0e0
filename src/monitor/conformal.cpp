#include "monitor/conformal.hpp"

#include <algorithm>
#include <vector>

#include "core/random.hpp"
#include "metrics/quantile/grouped_kqd_plan.hpp"
#include "profile/profile_spec.hpp"
#include "testing/aggregated_test.hpp"
#include "two_sample/profile_aggregate.hpp"
#include "two_sample/profile_units.hpp"

namespace kqd {
namespace {

// Permutation k labels batch k as X and all others as Y.
std::vector<LabelBatch> each_against_the_others(std::span<const std::size_t> order) {
  std::vector<LabelBatch> batches((order.size() + LabelBatch::kCapacity - 1) / LabelBatch::kCapacity);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    batches[b].words.resize(order.size());
    const std::size_t left = order.size() - b * LabelBatch::kCapacity;
    batches[b].count = static_cast<unsigned>(std::min<std::size_t>(left, LabelBatch::kCapacity));
    std::fill_n(batches[b].num_x.begin(), batches[b].count, std::size_t{1});
  }
  for (std::size_t position = 0; position < order.size(); ++position) {
    const std::size_t k = order[position];
    batches[k / LabelBatch::kCapacity].words[position] = std::uint64_t{1} << (k % LabelBatch::kCapacity);
  }
  return batches;
}

}  // namespace

double conformal_pvalue(std::span<const Profile> batches, Seed seed, ThreadCount threads) {
  const Seed own = permutation_seed(batches.front(), batches.back(), seed);
  RandomStream stream(own, Purpose::tie_break, batches.size());
  const double u = stream.uniform();
  if (batches.size() == 1) return u;
  const ProfileSpec& spec = *batches.front().spec();
  const ProfileUnits units = units_of_each(batches, own);
  const std::vector<LabelBatch> labels = each_against_the_others(units.order);
  std::vector<double> distances(batches.size());
  if (spec.statistics.empty()) {
    const GroupedKqdPlan plan(units.data, units.first_lines[spec.effect_functions],
                              spec.functions[spec.effect_functions].lines.size(), MethodOptions{}, Over::mean);
    plan.evaluate(labels, distances, threads);
  } else {
    distances = aggregates_of(aggregate_of(spec, units, batches.size()), labels, batches.size(), threads);
  }
  const double last = distances.back();
  const auto above = std::ranges::count_if(distances, [&](double d) { return d > last; });
  const auto equal = std::ranges::count(distances, last);
  return (static_cast<double>(above) + u * static_cast<double>(equal)) / static_cast<double>(distances.size());
}

}  // namespace kqd
